"""The short form of a report on a terminal: what decides, with the first items of its lists and tables."""

from collections.abc import Iterator

from msgspec import structs

from areopage.locales import Locale
from areopage.report.model import Block, Filter, Headline, Listing, Notice, Report, Section, Table

_MORE_OF_WARNINGS = 1  # items more than of a list of cases


def short_report(report: Report, most: int) -> Report:
    """A report without the sections and facts that only the whole console shows.

    Args:
        most: items of each list and rows of each table; how many are left out is counted.
    """
    return structs.replace(
        report,
        notices=tuple(_notice(notice, most, report.locale) for notice in report.notices),
        headline=report.headline and _headline(report.headline),
        sections=tuple(
            _section(section, most, report.locale) for section in report.sections if section.console and section.brief
        ),
    )


def _headline(headline: Headline) -> Headline:
    return structs.replace(headline, facts=tuple(fact for fact in headline.facts if fact[0] in headline.brief))


def _notice(notice: Notice, most: int, locale: Locale) -> Notice:
    limit = most if notice.css == "cases" else most + _MORE_OF_WARNINGS
    blocks = (_listing(block, limit, locale) if isinstance(block, Listing) else block for block in notice.blocks)
    return structs.replace(notice, blocks=tuple(blocks))


def _section(section: Section, most: int, locale: Locale) -> Section:
    return structs.replace(section, blocks=tuple(_blocks(section, most, locale)))


def _blocks(section: Section, most: int, locale: Locale) -> Iterator[Block]:
    for block in section.blocks:
        if isinstance(block, Listing):
            yield _listing(block, most, locale)
        elif isinstance(block, Filter):
            yield structs.replace(block, table=_table(block.table, most))
        else:
            yield _table(block, most) if isinstance(block, Table) else block


def _listing(listing: Listing, most: int, locale: Locale) -> Listing:
    """The first items of a list; a line that counts a single one would take the place of it."""
    items = listing.items[: len(listing.items) - bool(listing.more)]
    if listing.never_cut or len(items) + listing.more <= most + 1:
        return listing
    rest = locale.count("more_items", len(items) - most + listing.more)
    return structs.replace(listing, items=(*items[:most], rest), more=0)


def _table(table: Table, most: int) -> Table:
    """The first rows; the console counts the rest."""
    if table.never_cut:
        return table
    return structs.replace(table, console=min(most, len(table.rows) if table.console is None else table.console))
