"""The search index of words and filters over `evaluations`.

Words are folded here, not in the database, so that both find the same: without accents and case ("conges" finds « Congés »),
ligatures apart, cut at each character that is no letter or digit. A row's filters (grade, source, variant, day, the grades of
its criteria) are stored in the index as special words that no user can type. So any combination of words and filters is one
intersection inside the index and never a walk over rows.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, timedelta
from typing import Any, Literal

from msgspec import Struct
from sqlalchemy import Connection, text

from areopage.ledger.read.queries import Filters, Period
from areopage.ledger.tables.records import Evaluation, is_golden
from areopage.ledger.tables.rows import storable
from areopage.text import unaccented

SEARCH_TABLE = "evaluation_search"
"""The index's table, outside the metadata; SQLite keeps its parts in further tables with this beginning."""
MARK = "¤"
"""The beginning of a filter's word; no word of a text has it."""
GOLDEN_WORD = f"{MARK}golden"
LONGEST_WORD = 64
MOST_CHARACTERS = 200_000  # of an answer's different words together: PostgreSQL takes 1 MB of them
MOST_WORDS = 32
SHORTEST_PREFIX = 3
WORD = re.compile(r"[^\W_]+")
LIGATURES = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d"})
EARLIEST, LATEST = date(1970, 1, 1), date(2200, 1, 1)
NEAR = 4000
BEYOND = 2**62
ListOrder = Literal["newest", "oldest"]


class WordSearch(Struct, frozen=True, kw_only=True):
    """A search: all of `words`, any of `days` (if given), not `without`; the one of `prefixes` may begin a word."""

    words: tuple[str, ...]
    prefixes: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


def words_of(written: str) -> Iterator[str]:
    """The folded words of a text, in order, with repetitions."""
    folded = unaccented(written.casefold()).casefold().translate(LIGATURES)
    for word in WORD.findall(folded):
        yield word[:LONGEST_WORD]


def index_words(evaluation: Evaluation) -> list[str]:
    """All index words of an answer."""
    words = filter_words(evaluation)
    room = MOST_CHARACTERS
    listed = set(words)
    for written in (evaluation.prompt, evaluation.response, evaluation.feedback):
        for word in words_of(storable(written)):
            if word not in listed and len(word) <= room:
                listed.add(word)
                words.append(word)
                room -= len(word)
    return words


def filter_words(evaluation: Evaluation) -> list[str]:
    """The index words of an answer's filters."""
    day = evaluation.timestamp.astimezone(UTC).date()
    words = [f"{MARK}d{day:%Y%m%d}", f"{MARK}m{day:%Y%m}", f"{MARK}y{day:%Y}"]
    words += [f"{MARK}b{evaluation.grade}", f"{MARK}s{digest(evaluation.source)}", f"{MARK}v{digest(evaluation.variant)}"]
    words += [f"{MARK}c{digest(f'{result.criterion} {result.grade}')}" for result in evaluation.criteria]
    return [*words, GOLDEN_WORD] if is_golden(evaluation.source) else words


def digest(value: str) -> str:
    """A short word derived from any text."""
    return hashlib.sha256(storable(value).encode()).hexdigest()[:16]


def period_words(period: Period) -> tuple[str, ...]:
    """Words of years, months and days that cover a period, cut to `EARLIEST` and `LATEST`."""
    words = []
    day, end = max(period.start, EARLIEST), min(period.end, LATEST)
    while day < end:
        next_year = date(day.year + 1, 1, 1)
        next_month = next_year if day.month == 12 else date(day.year, day.month + 1, 1)
        if day == date(day.year, 1, 1) and next_year <= end:
            words.append(f"{MARK}y{day:%Y}")
            day = next_year
        elif day.day == 1 and next_month <= end:
            words.append(f"{MARK}m{day:%Y%m}")
            day = next_month
        else:
            words.append(f"{MARK}d{day:%Y%m%d}")
            day += timedelta(days=1)
    return tuple(words)


def wanted(filters: Filters) -> WordSearch | None:
    """Convert filters to a search; None if nothing can match, as in an empty period or a text without words."""
    words = []
    if filters.grade is not None:
        of_criterion = f"{MARK}c{digest(f'{filters.criterion} {filters.grade}')}"
        words.append(of_criterion if filters.criterion else f"{MARK}b{filters.grade}")
    if filters.source is not None:
        words.append(f"{MARK}s{digest(filters.source)}")
    if filters.variant is not None:
        words.append(f"{MARK}v{digest(filters.variant)}")
    typed = list(words_of(filters.text))[:MOST_WORDS]
    days = period_words(filters.period) if filters.period else ()
    if (filters.period and not days) or (filters.text.strip() and not typed):
        return None
    prefixes = tuple(typed[-1:]) if typed and len(typed[-1]) >= SHORTEST_PREFIX else ()
    words += typed[: len(typed) - len(prefixes)]
    without = (GOLDEN_WORD,) if filters.source is None else ()
    return WordSearch(words=tuple(dict.fromkeys(words)), prefixes=prefixes, days=days, without=without)


# --- what each database is told


def create_search_table(connection: Connection) -> None:
    """Create the index in the form of the database.

    PostgreSQL keeps the words apart from their rows (TOAST), so that a word that stands everywhere leads to few pages.
    """
    if connection.dialect.name == "sqlite":
        options = "tokenize='ascii', detail='none', columnsize=0"
        connection.execute(text(f"CREATE VIRTUAL TABLE {SEARCH_TABLE} USING fts5(words, {options})"))
        return
    columns = "number INTEGER PRIMARY KEY, words TSVECTOR NOT NULL"
    connection.execute(text(f"CREATE TABLE {SEARCH_TABLE} ({columns}) WITH (toast_tuple_target=128)"))
    connection.execute(text(f"ALTER TABLE {SEARCH_TABLE} ALTER COLUMN words SET STORAGE EXTERNAL"))
    connection.execute(text(f"CREATE INDEX ix_{SEARCH_TABLE}_words ON {SEARCH_TABLE} USING gin (words)"))


def add_words(connection: Connection, words: dict[int, list[str]]) -> None:
    """Add words to the index by number of evaluation."""
    if connection.dialect.name == "sqlite":
        statement = "INSERT INTO evaluation_search (rowid, words) VALUES (:number, :words)"
        rows: list[dict[str, Any]] = [{"number": number, "words": " ".join(listed)} for number, listed in words.items()]
    else:
        statement = "INSERT INTO evaluation_search (number, words) VALUES (:number, array_to_tsvector(CAST(:words AS text[])))"
        rows = [{"number": number, "words": listed} for number, listed in words.items()]
    connection.execute(text(statement), rows)


def remove_words(connection: Connection, numbers: Sequence[int]) -> None:
    """Remove answers from the index."""
    key = "rowid" if connection.dialect.name == "sqlite" else "number"
    if numbers:
        statement = f"DELETE FROM evaluation_search WHERE {key} = :number"  # noqa: S608 - there is no input in it
        connection.execute(text(statement), [{"number": number} for number in numbers])


def numbers_found(connection: Connection, asked: WordSearch, direction: ListOrder, edge: int | None, most: int) -> list[int]:
    """Find numbers of answers, at most `most`, beyond `edge` if given.

    Every word of a query is quoted, and holds nothing but letters and digits behind a mark.
    """
    newest = direction == "newest"
    if connection.dialect.name == "sqlite":
        terms = [f'"{word}"' for word in asked.words] + [f'"{word}" *' for word in asked.prefixes]
        if asked.days:
            terms.append("(" + " OR ".join(f'"{word}"' for word in asked.days) + ")")
        query = f"({' AND '.join(terms)})" + "".join(f' NOT "{word}"' for word in asked.without)
        order = "rowid < :edge ORDER BY rowid DESC" if newest else "rowid > :edge ORDER BY rowid"
        statement = f"SELECT rowid FROM evaluation_search WHERE evaluation_search MATCH :query AND {order} LIMIT :most"  # noqa: S608
        values = {"query": query, "edge": _edge_or_end(edge, newest), "most": most}
        return list(connection.execute(text(statement), values).scalars())
    # PostgreSQL's index of words has no order: what is found is sorted, so the nearest rows are queried first
    start = _edge_or_end(edge, newest)
    if newest and edge is None:
        start = (connection.execute(text("SELECT max(number) FROM evaluation_search")).scalar() or 0) + 1
    near = start - NEAR if newest else start + NEAR
    numbers = _postgres_numbers(connection, asked, newest, (start, near), most)
    if len(numbers) < most:
        numbers += _postgres_numbers(connection, asked, newest, (near, _edge_or_end(None, not newest)), most - len(numbers))
    return numbers


def _edge_or_end(edge: int | None, newest: bool) -> int:
    """An edge, or one beyond every number."""
    return edge if edge is not None else BEYOND if newest else -1


def _postgres_numbers(connection: Connection, asked: WordSearch, newest: bool, edges: tuple[int, int], most: int) -> list[int]:
    """The numbers in PostgreSQL's index between two edges, the first edge excluded.

    They are sorted by an expression, for the planner would else walk along the key, reading every row until enough are found.
    """
    terms = [f"'{word}'" for word in asked.words] + [f"'{word}':*" for word in asked.prefixes]
    if asked.days:
        terms.append("(" + " | ".join(f"'{word}'" for word in asked.days) + ")")
    query = " & ".join([*terms, *(f"!'{word}'" for word in asked.without)])
    between = "number < :edge AND number >= :far" if newest else "number > :edge AND number <= :far"
    order = f"{between} ORDER BY number + 0 {'DESC' if newest else 'ASC'}"
    statement = f"SELECT number FROM evaluation_search WHERE words @@ CAST(:query AS tsquery) AND {order} LIMIT :most"  # noqa: S608
    values = {"query": query, "edge": edges[0], "far": edges[1], "most": most}
    return list(connection.execute(text(statement), values).scalars())
