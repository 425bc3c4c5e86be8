"""`report.html`: one page that needs nothing else, runs nothing and asks nobody.

Everything that comes from outside (texts, names, ids, file names) reaches the page as escaped text only: the environment
escapes always, no text is marked safe, and a policy in the page forbids scripts and loads besides.
"""

import shlex
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from areopage import __version__
from areopage.bench.results import RunView
from areopage.criteria.prompts import TEMPLATE_VERSION
from areopage.report.languages import Language, language_for
from areopage.report.page import page_of
from areopage.report.replacing import replacing

TEMPLATES = Path(__file__).with_name("templates")
TEMPLATE = "report.html.j2"


def write_report(view: RunView, path: Path) -> None:
    """Write `report.html` in the run's language, in English where that is neither English nor French.

    Raises:
        StorageError: the file cannot be written.
    """
    text = render_report(view)
    with replacing(path) as place:
        place.write_text(text, encoding="utf-8", errors="replace")


def render_report(view: RunView) -> str:
    """The HTML of a run's report."""
    language = language_for(view.spec.language)
    return (
        environment(language)
        .get_template(TEMPLATE)
        .render(
            page=page_of(view),
            view=view,
            spec=view.spec,
            version=__version__,
            template_version=TEMPLATE_VERSION,
            commands={name: f"areopage bench {name} {shlex.quote(view.run.id)}" for name in ("resume", "rescore")},
        )
    )


def environment(language: Language) -> Environment:
    """Where the template is rendered: escaping is always on, and a name that does not exist is an error."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.globals.update(lang=language, say=language.say, count=language.count, standing=language.standing)
    made.filters.update(
        number=language.number, short=language.short, whole=language.whole, percent=language.percent, points=points
    )
    return made


def points(share: float) -> str:
    """A share as a coordinate on a drawing that is 100 units wide, whatever the language."""
    return f"{share * 100:.2f}"
