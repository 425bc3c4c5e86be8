"""Rendering of page templates, in the reader's language, with escaping.

Every page extends `base.html.j2`. What a template has: what `report.render.environment` gives it; `qualification`, `alarming`,
`judge_standing`, `judge_alarms`, `asset`, `answer_url`, `gate_url`, `review_url`, `run_url`, `pages_of_extensions`; the filters
`iso` and `one_line`; of the request: `here` (its path), `languages` (code and link of each), `actor` (None if no sign-in is
needed), `csrf()` for the hidden field of a form, `can_ask` (whether this server answers questions), `places` (the menu),
`command_here()` (see `command_here`).
"""

import hashlib
import shlex
from collections.abc import Mapping
from datetime import UTC
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from fastapi.routing import APIRoute
from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from areopage.app import LEDGER_VARIABLE
from areopage.bench import DEFAULT_OUT
from areopage.locales import LANGUAGES, Locale, locale_for, one_line
from areopage.report import ALARMING, MESSAGE_FILES, STYLES, audience, environment, is_alarming, judge_text, panel_text
from areopage.report import TEMPLATES as REPORT_TEMPLATES
from areopage.server.access import actor_of, csrf_token
from areopage.server.context import context_of, server_parts
from areopage.server.pages.places import places_of

TEMPLATES = Path(__file__).with_name("templates")
STATIC = Path(__file__).parent.parent / "static"
CHART_STYLES = "/monitor/charts.css"
REPORT_STYLES = "/compare/report.css"
LANGUAGE_COOKIE = "areopage_language"
YEAR_SECONDS = 31_536_000
DEFAULT_LANGUAGE = "en"
KEPT = {"Cache-Control": "no-cache"}
"""Of styles that pages share with reports."""

# A form sent from a page without any referrer has the origin "null", which browsers that send no Sec-Fetch-Site (plain HTTP,
# another computer) would then be refused with.
PAGE_HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"}


@cache
def _environments() -> Mapping[str, Environment]:
    """The template environments by language."""
    assets = {path.name: _versioned(f"/static/{path.name}", path) for path in STATIC.iterdir() if path.is_file()}
    assets[STYLES.name] = _versioned(CHART_STYLES, STYLES)
    return {code: _page_environment(code, assets) for code in LANGUAGES}


def _versioned(address: str, path: Path) -> str:
    """The address of a file; it changes with the file, so that a browser never shows an old one."""
    return f"{address}?v={hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"


def _page_environment(code: str, assets: Mapping[str, str]) -> Environment:
    folders = tuple(part.folder for part in server_parts() if part.folder is not None)
    words = [file for folder in (Path(__file__).parent, *folders) for file in sorted(folder.glob("*words.yml"))]
    locale = locale_for(code, *MESSAGE_FILES, *words)
    made = environment((TEMPLATES, *folders, REPORT_TEMPLATES), locale)
    # other pages link to those of extensions alone that there are
    routes = [route for part in server_parts() for route in part.router.routes]
    pages = frozenset(route.path for route in routes if isinstance(route, APIRoute))
    made.globals.update(
        qualification=partial(panel_text, locale),
        alarming=is_alarming,
        audience=partial(audience, locale),
        judge_standing=partial(judge_text, locale),
        judge_alarms=lambda standing: standing is not None and standing.state in ALARMING,
        asset=assets.__getitem__,
        answer_url=partial(_url_of, "/monitor/answers"),
        gate_url=gate_url,
        review_url=review_url,
        run_url=run_url,
        pages_of_extensions=pages,
    )
    made.filters.update(iso=lambda moment: moment.astimezone(UTC).isoformat(timespec="seconds"), one_line=one_line)
    return made


def language_code(request: Request) -> str:
    """The reader's language: the link's (`?lang=`), else the cookie's, else the browser's first choice that there is."""
    for named in (request.query_params.get("lang"), request.cookies.get(LANGUAGE_COOKIE)):
        if named in LANGUAGES:
            return str(named)
    ranked: list[tuple[float, str]] = []
    for part in request.headers.get("accept-language", "").split(","):
        tag, _, weight = part.partition(";q=")
        try:
            ranked.append((float(weight or 1), tag.strip().split("-")[0].lower()))
        except ValueError:
            continue
    accepted = (tag for weight, tag in sorted(ranked, key=lambda pair: -pair[0]) if weight > 0 and tag in LANGUAGES)
    return next(accepted, DEFAULT_LANGUAGE)


def language(request: Request) -> Locale:
    """Return the reader's locale."""
    locale: Locale = _environments()[language_code(request)].globals["lang"]  # type: ignore[assignment]
    return locale


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Render a page in the reader's language.

    Args:
        template: the name of a file in `templates`, or of one of an extension.
        values: what the template shows.
    """
    code = language_code(request)
    kept = [(name, value) for name, value in request.query_params.multi_items() if name != "lang"]
    path = request.scope["raw_path"].decode("ascii", "replace")
    shared = {
        "here": request.url.path,
        "languages": [(name, f"{path}?{urlencode([*kept, ('lang', name)])}") for name in LANGUAGES],
        "csrf": partial(csrf_token, request),
        "actor": actor_of(request),
        "can_ask": context_of(request).rag is not None,
        "places": places_of(request),
        "command_here": partial(command_here, request),
    }
    text = _environments()[code].get_template(template).render(shared | values)
    # A surrogate cannot be encoded; the ledger keeps none, but an id in the address may hold one.
    response = HTMLResponse(text.encode("utf-8", "replace"), status_code=status, headers=PAGE_HEADERS)
    if request.query_params.get("lang") in LANGUAGES:
        response.set_cookie(LANGUAGE_COOKIE, code, max_age=YEAR_SECONDS, samesite="lax", httponly=True)
    return response


def places_here(request: Request) -> tuple[str, ...]:
    """The options by which a command finds what this server shows; only a local reader without a key is told of its folders."""
    actor, context = actor_of(request), context_of(request)
    return context.config.options(context.ledger.place) if actor is not None and actor.keyless else ()


def run_places(request: Request, folder: str) -> tuple[str, ...]:
    """The same for a command about a run, with the folder of the runs where it is not the usual one."""
    places, out = places_here(request), Path(folder).absolute().parent
    is_elsewhere = bool(places) and bool(folder) and out != Path(DEFAULT_OUT).absolute()
    return (*places, "--out", str(out)) if is_elsewhere else places


def with_places(command: tuple[str, ...], places: tuple[str, ...]) -> tuple[str, ...]:
    """A command of a report for a page of this server: its folder of runs, named by its last part, gives way to the places."""
    if not places:
        return command
    words = command[: command.index("--out")] if "--out" in command else command
    if command[1:3] not in (("review", "fill"), ("calibrate", "monitored")) or "--ledger" not in places:
        return (*words, *places)
    at = places.index("--ledger")  # these commands take the ledger of the configuration alone
    return ("env", f"{LEDGER_VARIABLE}={places[at + 1]}", *words, *places[:at])


def command_here(request: Request, *words: str, takes_ledger: bool = True) -> str:
    """A command as a shell takes it, on the configuration and the ledger of this server.

    Args:
        takes_ledger: the command has an option `--ledger`; else the environment names a ledger that is not the file's.
    """
    places = places_here(request)
    if takes_ledger or "--ledger" not in places:
        return shlex.join(["areopage", *words, *places])
    at = places.index("--ledger")
    return f"{LEDGER_VARIABLE}={shlex.quote(places[at + 1])} {shlex.join(['areopage', *words, *places[:at]])}"


def _url_of(pages: str, id: str, query: str = "") -> str:
    """The page of an answer. Browsers take an id of dots alone for a folder, so it goes into the query."""
    if id in (".", ".."):
        return f"{pages}/?id={id}" + (f"&{query}" if query else "")
    return f"{pages}/{quote(id, safe='')}" + (f"?{query}" if query else "")


def review_url(id: str, query: str = "") -> str:
    """The page where people label an answer."""
    return _url_of("/review", id, query)


def run_url(id: str) -> str:
    """The page of a benchmark run."""
    return f"/runs/{quote(id, safe='')}"


def trust_url(id: str) -> str:
    """The page that says how far the score of a benchmark run can be trusted."""
    return f"{run_url(id)}/trust"


def gate_url(id: str) -> str:
    """The page of one decision of the gate."""
    return f"/gate/{quote(id, safe='')}"


def fault_page(request: Request, status: int, code: str, headers: Mapping[str, str] | None = None) -> Response:
    """Show an error and what the reader can do."""
    words = language(request).messages
    named = f"fault_{code}" if f"fault_{code}" in words else f"fault_{status // 100}"
    page = render(request, "fault.html.j2", status, fault=named, number=status, may_sign_in=status == 403)
    page.headers.update(headers or {})
    return page
