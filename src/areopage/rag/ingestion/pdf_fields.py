"""What is typed into a PDF: the values of its form fields and its notes on the page, which are no text of the page itself."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypdf import PageObject

_UNSEEN = 2 | 32  # hidden, not shown on a screen
_PASSWORD = 1 << 13
_MOST_PARENTS = 20


def typed_lines(page: "PageObject") -> Iterator[str]:
    """The lines that are typed into a page: "name: value" for a field that is filled in."""
    listed = page.get("/Annots")
    listed = listed.get_object() if listed is not None else None
    for reference in listed if isinstance(listed, list) else ():
        note = reference.get_object()
        if not isinstance(note, Mapping) or int(note.get("/F", 0)) & _UNSEEN:
            continue
        if note.get("/Subtype") == "/FreeText":
            yield _text(note.get("/Contents"))
        elif note.get("/Subtype") == "/Widget":
            yield _field(note)


def _field(widget: Mapping[str, Any]) -> str:
    kind, flags = _inherited(widget, "/FT"), _inherited(widget, "/Ff")
    if kind == "/Sig" or (isinstance(flags, int) and flags & _PASSWORD):
        return ""
    if kind == "/Btn":
        state = str(widget.get("/AS") or "/Off").removeprefix("/")
        value = "" if state == "Off" else state
    else:
        value = _text(_inherited(widget, "/V"))
    name = _text(_inherited(widget, "/TU") or _inherited(widget, "/T"))
    return f"{name}: {value}" if name and value else value


def _inherited(widget: Mapping[str, Any], name: str) -> Any:
    """An entry of a field, or of the nearest field above it."""
    for _ in range(_MOST_PARENTS):
        if name in widget:
            return widget[name]
        above = widget.get("/Parent")
        above = above.get_object() if above is not None else None
        if not isinstance(above, Mapping):
            return None
        widget = above
    return None


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    return " ".join(value.split()) if isinstance(value, str) and not value.startswith("/") else ""
