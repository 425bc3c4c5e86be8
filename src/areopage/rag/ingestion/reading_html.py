"""HTML: visible text in sections under their headings; linear in the length of any text."""

import re
from html import unescape

from areopage.rag.ingestion.chunking import SourceText, TextPart


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
# Quantifiers are possessive: no text is read again because what follows does not fit.
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])")
_TAG = re.compile(r"<(/?)([A-Za-z][^\s/>]*+)")
_ATTRIBUTE = re.compile(r"""[\s/]*+([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>"'][^\s>]*+)?))?+""")
_TAG_END = re.compile(r"[\s/]*+>")
_RAW_ENDS = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in ("script", "style")}

Attributes = list[tuple[str, str]]


def read_html(text: str) -> SourceText:
    """Read a page; its title comes from its head, else its first heading.

    A comment that does not end hides the rest; a tag that does not end is text.
    """
    page, at = _Page(), 0
    while markup := _MARKUP.search(text, at):
        start = markup.start()
        if start > at:
            page.add_text(unescape(text[at:start]))
        tag = _TAG.match(text, start)
        if tag is None:
            at = _declaration_end(text, start)
            continue
        attributes, closing = _attributes(text, tag.end())
        if closing is None:
            at = start
            break
        at = _tell_tag(text, tag, attributes, closing, page)
    page.add_text(unescape(text[at:]))
    page.end_part()
    first = next((part.headings[0] for part in page.parts if part.headings), "")
    return SourceText(parts=tuple(page.parts), title=" ".join("".join(page.title).split()) or first)


def _declaration_end(text: str, start: int) -> int:
    """Where a comment, a declaration or an instruction ends that begins here."""
    if text.startswith("<!--", start):
        end, mark = text.find("-->", start + 2), "-->"
    elif text.startswith("<![CDATA[", start):
        end, mark = text.find("]]>", start), "]]>"
    else:
        end, mark = text.find(">", start), ">"
    return len(text) if end < 0 else end + len(mark)


def _attributes(text: str, at: int) -> tuple[Attributes, re.Match[str] | None]:
    """The attributes of a tag, and its end; None where the text ends before."""
    attributes: Attributes = []
    while not (closing := _TAG_END.match(text, at)):
        attribute = _ATTRIBUTE.match(text, at)
        if attribute is None:
            return attributes, None
        attributes.append((attribute[1].lower(), unescape(attribute[2] or attribute[3] or attribute[4] or "")))
        at = attribute.end()
    return attributes, closing


def _tell_tag(text: str, tag: re.Match[str], attributes: Attributes, closing: re.Match[str], page: "_Page") -> int:
    """Tell a page of a tag; returns where to read on. What a script or a style holds is passed over."""
    name = tag[2].lower()
    if tag[1]:
        page.close_tag(name)
        return closing.end()
    page.open_tag(name, attributes)
    if closing[0].endswith("/>"):
        page.close_tag(name)
        return closing.end()
    if name not in _RAW_ENDS:
        return closing.end()
    raw_end = _RAW_ENDS[name].search(text, closing.end())
    return raw_end.start() if raw_end else len(text)


class _Page:
    """Gathers visible text. Tags that are never closed, or closed in another order, do no harm."""

    def __init__(self) -> None:
        self.parts: list[TextPart] = []
        self.title: list[str] = []
        self._pieces: list[str] = []
        self._path: list[tuple[int, str]] = []
        self._heading: list[str] | None = None
        self._own = ""  # the heading of the section that is being read
        self._in_title = False
        # The tag whose content is invisible, and how many of its name are open; "" outside of such a tag.
        self._silent, self._depth = "", 0

    def open_tag(self, tag: str, attributes: Attributes) -> None:
        """Process an opening tag."""
        if tag == "title" and self._silent in ("", "head"):
            self._in_title = True
        if tag == "body" and self._silent == "head":
            self._silent = ""  # a head without a closing tag
        if self._silent:
            self._depth += tag == self._silent
        elif tag not in VOID and (tag in SILENT or _is_hidden(attributes)):
            self._silent, self._depth = tag, 1
        elif tag in HEADINGS:
            self.end_part()
            self._heading = []
        else:
            self._separate(tag)

    def close_tag(self, tag: str) -> None:
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

    def add_text(self, data: str) -> None:
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
            self.parts.append(TextPart(text=body, headings=tuple(name for _, name in self._path)))
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


def _is_hidden(attributes: Attributes) -> bool:
    return any(
        name == "hidden" or (name == "aria-hidden" and value == "true") or (name == "style" and _HIDDEN_STYLE.search(value))
        for name, value in attributes
    )
