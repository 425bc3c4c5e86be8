"""Pages out of templates: in the reader's language, escaped always, built once per process.

Every page extends `base.html.j2`. What a template has: `lang`, `say`, `count`, `standing`, `unfit`, `standing_of_judge`, `asset`,
`answer_url`, `gate_url`, `review_url`, `version`; the filters of `pages.formats`; of the request: `here` (its path), `languages`
(code and link of each), `actor` (None where nobody had to sign in), `csrf()` for the hidden field of a form, `can_ask` (whether
this server answers questions).
"""

import hashlib
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml
from fastapi import FastAPI
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import HTMLResponse

from areopage import __version__
from areopage.jury.judges import is_unfit
from areopage.report.agreement import AGREEMENT_WORDS
from areopage.report.charts import STYLES
from areopage.report.languages import LANGUAGES, WORDS_FILE, Language, typeset
from areopage.server.access import actor_of, csrf_token
from areopage.server.context import context_of
from areopage.server.pages.formats import answer_url, filters_of, gate_url, review_url
from areopage.server.pages.standings import standing_of_judge, standing_text

TEMPLATES = Path(__file__).with_name("templates")
STATIC = Path(__file__).parent.parent / "static"
CHART_STYLES = "/monitor/charts.css"
LANGUAGE_COOKIE = "areopage_language"
YEAR_SECONDS = 31_536_000
DEFAULT_LANGUAGE = "en"
# A form sent from a page without any referrer has the origin "null", which browsers that send no Sec-Fetch-Site (plain HTTP,
# another computer) would then be refused with.
PAGE_HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"}


class Pages(Struct, frozen=True, kw_only=True):
    """What all pages are made with: an environment for each language."""

    environments: Mapping[str, Environment]


@cache
def load_pages() -> Pages:
    """Read the words and set up the environments."""
    words = read_words()
    assets = {path.name: versioned(f"/static/{path.name}", path) for path in STATIC.iterdir() if path.is_file()}
    assets[STYLES.name] = versioned(CHART_STYLES, STYLES)
    languages = {code: language_of_words(words, code) for code in LANGUAGES}
    return Pages(environments={code: environment(language, assets) for code, language in languages.items()})


def versioned(address: str, path: Path) -> str:
    """The address of a file; it changes with the file, so that a browser never shows an old one."""
    return f"{address}?v={hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"


def read_words() -> dict[str, Any]:
    """The words of every page; a file of its own per group of pages, over the report's words."""
    merged: dict[str, Any] = {}
    for path in (WORDS_FILE, AGREEMENT_WORDS, *sorted(Path(__file__).parent.glob("*words.yml"))):
        merged.update(yaml.safe_load(path.read_text(encoding="utf-8")))
    return merged


def language_of_words(words: Mapping[str, Any], code: str) -> Language:
    """One language's side of the words."""
    return Language(code=code, words={key: typeset(forms[code], code) for key, forms in words.items()})


def environment(language: Language, assets: Mapping[str, str]) -> Environment:
    """Where the templates of one language are rendered: escaping is always on, and a name that does not exist is an error.

    Args:
        assets: the address of each static file by its name.
    """
    made = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.globals.update(
        lang=language,
        say=language.say,
        count=language.count,
        standing=partial(standing_text, language),
        unfit=is_unfit,
        standing_of_judge=standing_of_judge,
        asset=assets.__getitem__,
        answer_url=answer_url,
        gate_url=gate_url,
        review_url=review_url,
        version=__version__,
    )
    made.filters.update(filters_of(language))
    return made


def pages_of(app: FastAPI) -> Pages:
    """The pages, made at the first request."""
    if not hasattr(app.state, "pages"):
        app.state.pages = load_pages()
    pages: Pages = app.state.pages
    return pages


def language_code(request: Request) -> str:
    """The reader's language: the link's (`?lang=`), else the cookie's, else the browser's first choice that there is."""
    for named in (request.query_params.get("lang"), request.cookies.get(LANGUAGE_COOKIE)):
        if named in LANGUAGES:
            return str(named)
    for wanted in accepted_languages(request.headers.get("accept-language", "")):
        if wanted in LANGUAGES:
            return wanted
    return DEFAULT_LANGUAGE


def accepted_languages(header: str) -> list[str]:
    """The languages of an Accept-Language header without their regions, the most wanted first."""
    ranked: list[tuple[float, str]] = []
    for part in header.split(","):
        tag, _, weight = part.partition(";q=")
        try:
            ranked.append((float(weight or 1), tag.strip().split("-")[0].lower()))
        except ValueError:
            continue
    return [tag for weight, tag in sorted(ranked, key=lambda one: -one[0]) if weight > 0]


def language(request: Request) -> Language:
    """The reader's language with its words."""
    found: Language = pages_of(request.app).environments[language_code(request)].globals["lang"]  # type: ignore[assignment]
    return found


def link_in(request: Request, code: str) -> str:
    """The address of the same page in a language, its path just as it was asked for."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name != "lang"]
    return f"{request.scope['raw_path'].decode('ascii', 'replace')}?{urlencode([*kept, ('lang', code)])}"


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page in the reader's language.

    Args:
        template: the name of a file in `templates`.
        values: what the template shows.
    """
    code = language_code(request)
    text = (
        pages_of(request.app)
        .environments[code]
        .get_template(template)
        .render(
            {
                "here": request.url.path,
                "languages": [(name, link_in(request, name)) for name in LANGUAGES],
                "csrf": partial(csrf_token, request),
                "actor": actor_of(request),
                "can_ask": context_of(request).rag is not None,
            }
            | values
        )
    )
    # A surrogate cannot be encoded; the ledger keeps none, but an id in the address may hold one.
    response = HTMLResponse(text.encode("utf-8", "replace"), status_code=status, headers=PAGE_HEADERS)
    if request.query_params.get("lang") in LANGUAGES:
        response.set_cookie(LANGUAGE_COOKIE, code, max_age=YEAR_SECONDS, samesite="lax", httponly=True)
    return response
