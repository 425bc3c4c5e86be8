"""HTML: visible text in sections under their headings."""

import re
from html.parser import HTMLParser

from areopage.rag.ingestion.chunking import Part, SourceText


def _names(*lines: str) -> frozenset[str]:
    return frozenset(name for line in lines for name in line.split())


SILENT = _names("script style noscript template svg math head iframe object canvas audio video select datalist")
VOID = _names("area base br col embed hr img input link meta source track wbr")
BLOCKS = _names(
    "address article aside blockquote body br caption dd details div dl dt fieldset figcaption figure footer form header hr html",
    "li main nav ol p pre section summary table tbody tfoot thead tr ul",
)
CELLS = frozenset(("td", "th"))
CELL = " | "
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SPACE = re.compile(r"\s+")


def read_html(text: str) -> SourceText:
    """Read a page; its title comes from its head, else its first heading."""
    page = _Page()
    page.feed(text)
    page.close()
    page.end_part()
    first = next((part.headings[0] for part in page.parts if part.headings), "")
    return SourceText(parts=tuple(page.parts), title=" ".join("".join(page.title).split()) or first)


class _Page(HTMLParser):
    """Gathers visible text. Tags that are never closed, or closed in another order, do no harm."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[Part] = []
        self.title: list[str] = []
        self._pieces: list[str] = []
        self._path: list[tuple[int, str]] = []
        self._heading: list[str] | None = None
        self._own = ""  # the heading of the section that is being read
        self._in_title = False
        # The tag whose content is invisible, and how many of its name are open; "" outside of such a tag.
        self._silent, self._depth = "", 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Process an opening tag."""
        if tag == "title" and self._silent in ("", "head"):
            self._in_title = True
        if tag == "body" and self._silent == "head":
            self._silent = ""  # a head without a closing tag
        if self._silent:
            self._depth += tag == self._silent
        elif tag not in VOID and (tag in SILENT or _is_hidden(attrs)):
            self._silent, self._depth = tag, 1
        elif tag in HEADINGS:
            self.end_part()
            self._heading = []
        else:
            self._separate(tag)

    def handle_endtag(self, tag: str) -> None:
        """Process a closing tag."""
        if tag == "title":
            self._in_title = False
        if self._silent:
            self._depth -= tag == self._silent
            if not self._depth:
                self._silent = ""
        elif tag in HEADINGS and self._heading is not None:
            self._end_heading(int(tag[1]))
        elif tag not in CELLS:
            self._separate(tag)

    def handle_data(self, data: str) -> None:
        """Process text between tags."""
        if self._in_title:
            self.title.append(data)
        elif self._silent:
            return
        elif self._heading is not None:
            self._heading.append(data)
        else:
            self._pieces.append(_SPACE.sub(" ", data))

    def end_part(self) -> None:
        """End a section."""
        if self._heading is not None:  # a heading that was never closed is text
            self._pieces += ["\n", *self._heading]
            self._heading = None
        lines = [" ".join(line.split()).strip(" |") for line in "".join(self._pieces).split("\n")]
        body = "\n".join(filter(None, lines))
        if len(body) > len(self._own):
            self.parts.append(Part(text=body, headings=tuple(name for _, name in self._path)))
        self._pieces, self._own = [], ""

    def _end_heading(self, level: int) -> None:
        name = " ".join("".join(self._heading or ()).split())
        self._heading = None
        if name:
            self._path = [(above, title) for above, title in self._path if above < level]
            self._path.append((level, name))
            self._pieces, self._own = [name, "\n"], name

    def _separate(self, tag: str) -> None:
        """Blocks begin a line, cells are set apart."""
        if self._heading is not None:
            self._heading.append(" ")
        elif tag in BLOCKS:
            self._pieces.append("\n")
        elif tag in CELLS:
            self._pieces.append(CELL)


def _is_hidden(attrs: list[tuple[str, str | None]]) -> bool:
    return any(
        name == "hidden" or (name == "aria-hidden" and value == "true") or (name == "style" and _HIDDEN_STYLE.search(value or ""))
        for name, value in attrs
    )
