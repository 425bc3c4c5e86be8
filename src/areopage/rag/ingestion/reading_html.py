"""HTML: visible text in sections under their headings; linear in the length of any text."""

import re
from contextlib import suppress
from html import unescape

from areopage.rag.ingestion.chunking import SourceText, TextPart


def _names(*lines: str) -> frozenset[str]:
    return frozenset(name for line in lines for name in line.split())


SILENT = _names("script style noscript template svg head iframe object canvas audio video select datalist")
# Struck out, no text of the page any more; and what repeats a formula in another notation.
SILENT |= _names("del s strike annotation annotation-xml")
VOID = _names("area base br col embed hr img input link meta source track wbr")
BLOCKS = _names(
    "address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure footer",
    "form header hgroup hr html legend li main menu nav ol optgroup option p pre search section summary table tbody tfoot thead",
    "tr ul",
)
CELLS = frozenset(("td", "th"))
# What begins a cell and a row, until a section ends: no text holds them.
_CELL, _ROW = "\x1f", "\x1e"
_CELL_START, _ROW_START = re.compile(r"[ \n]?\x1f[ \n]?"), re.compile(r"[ \n]?\x1e[ \n]?\x1f[ \n]?")
_GAPS = re.compile(r"[ \n]{2,}+")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
# Elements whose end tag may be left out: the tags before which they end, and those whose end ends them.
_FLOW = BLOCKS - _names("br caption dd dt html legend li option optgroup summary tbody tfoot thead tr") | frozenset(HEADINGS)
_CONTAINERS = _names("table ul ol menu dir dl")
_IN_ROWS = _names("td th tr thead tbody tfoot")
_ENDS = {
    "p": (_FLOW, _FLOW | _names("li dd dt td th tr tbody summary") - {"p"}),
    "li": (_names("li"), _names("ul ol menu dir")),
    "dt": (_names("dt dd"), _names("dl")),
    "dd": (_names("dt dd"), _names("dl")),
    "td": (_IN_ROWS, _IN_ROWS | {"table"}),
    "th": (_IN_ROWS, _IN_ROWS | {"table"}),
    "tr": (_IN_ROWS - CELLS, _IN_ROWS - CELLS | {"table"}),
    "head": (_FLOW, _names("html")),
}
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|text-decoration(?:-line)?\s*:[^;]{0,40}line-through"
    r"|(?:left|right|top|text-indent)\s*:\s*-\d{4}"
    r"|opacity\s*:\s*0*\.?0+%?\s*(?:;|!|\Z)",
    re.IGNORECASE,
)
# Without a size, an element hides its own text, and shows that of the elements in it that have one: newsletters are built so.
_SIZELESS = re.compile(r"font-size\s*:\s*0*\.?0+(?:[a-z]{2,3}|%)?\s*(?:;|!|\Z)", re.IGNORECASE)
_SIZED = re.compile(
    r"font(?:-size)?\s*:[^;]{0,40}?(?:(?<![0-9.])[0-9.]{0,4}[1-9][0-9.]{0,4}(?:px|pt|pc|rem|cm|mm|in|vw|vh)|small|medium|large)",
    re.IGNORECASE,
)
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LISTS = ("ol", "ul", "menu", "dir")
_UNNUMBERED = re.compile(r"list-style(?:-type)?\s*:[^;]{0,40}none", re.IGNORECASE)
_INTEGER = re.compile(r"-?[0-9]{1,6}")
# What stands between the parts of an element of a formula.
_JOINTS = {"mfrac": "/", "msup": "^", "msub": "_", "msubsup": " ", "munder": " ", "mover": " ", "munderover": " ", "mroot": " "}
_MOST_SPANNED = 100  # rows or columns of a cell
_SPACE = re.compile(r"\s+")
# Quantifiers are possessive: no text is read again because what follows does not fit.
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])")
_TAG = re.compile(r"<(/?)([A-Za-z][^\s/>]*+)")
_ATTRIBUTE = re.compile(r"""[\s/]*+([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>"'][^\s>]*+)?))?+""")
_COMMENT_END = re.compile("--!?>")
_TAG_END = re.compile(r"[\s/]*+>")
_RAW_ENDS = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in ("script", "style")}

_CHARSET = re.compile(rb"""<(?:meta|\?xml)\b[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?([A-Za-z0-9_:-]{2,40})""", re.IGNORECASE)
_ENCODING = re.compile(r"iso-8859-[0-9]{1,2}|(?:windows-|cp)[0-9]{3,4}|koi8-[ru]|euc-jp|iso-2022-jp|gb18030|big5|macintosh")
_HEAD = 4096  # bytes in which a page names its encoding
# What browsers read under a name: https://encoding.spec.whatwg.org/#names-and-labels
_LABELS = {"iso-8859-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252", "iso-8859-9": "cp1254"}
_LABELS |= {"shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030", "euc-kr": "cp949", "x-sjis": "cp932"}

Attributes = list[tuple[str, str]]


def declared_encoding(page: bytes) -> str:
    """The codec that a page's head names, where the page can be decoded with it and is no UTF-8; else ""."""
    declaration = _CHARSET.search(page[:_HEAD])
    if declaration is None:
        return ""
    with suppress(UnicodeDecodeError):
        page.decode("utf-8")
        return ""
    name = declaration[1].decode("ascii").lower()
    name = _LABELS.get(name, name)
    if not _ENCODING.fullmatch(name):
        return ""
    with suppress(LookupError, UnicodeDecodeError):
        page.decode(name)
        return name
    return ""


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
        ending = _COMMENT_END.search(text, start + 2)
        return ending.end() if ending else len(text)
    if text.startswith("<![CDATA[", start):
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
        self._grids: list[_Grid] = []  # of the tables that are open
        # The tag whose content is invisible, and how many of its name are open; "" outside of such a tag.
        self._silent, self._depth = "", 0
        self._sizes: list[_Sized] = []  # of the elements that are open, those without a size, and those in them that have one
        self._raised = False  # inside of a superscript
        self._nested = 0  # tables and lists that were opened inside of that tag
        self._in_lines = False  # inside of preformatted text
        self._lists: list[int | None] = []  # of the lists that are open, the number of the next item; None where they have none
        self._formula: list[_Part] = []  # the elements of a formula that are open

    def open_tag(self, tag: str, attributes: Attributes) -> None:
        """Process an opening tag."""
        if tag == "title" and self._silent in ("", "head"):
            self._in_title = True
        if self._silent:
            self._end_silent_before(tag)
        hidden = tag not in VOID and (tag in SILENT or _is_hidden(attributes))
        if not (self._silent or hidden):
            self._size(tag, dict(attributes).get("style", ""))
        if self._silent:
            self._depth += tag == self._silent and tag not in _ENDS
        elif hidden:
            self._silent, self._depth, self._nested = tag, 1, 0
        elif tag in HEADINGS:
            self.end_part()
            self._heading = []
        elif tag in CELLS and self._heading is None:
            self._pieces.append(_CELL * self._grid.place(dict(attributes)))
        elif self._formula or tag == "math":
            self._open_formula(tag)
        else:
            self._raised = self._raised or tag == "sup"
            self._in_lines = self._in_lines or tag == "pre"
            self._separate(tag)
            self._number(tag, dict(attributes))

    def close_tag(self, tag: str) -> None:
        """Process a closing tag."""
        if tag == "title":
            self._in_title = False
        if not self._silent:
            self._end_size(tag)
        if self._silent:
            self._close_silent(tag)
        elif tag in HEADINGS and self._heading is not None:
            self._end_heading(int(tag[1]))
        elif self._formula:
            self._close_formula(tag)
        elif tag not in CELLS:
            self._raised = self._raised and tag != "sup"
            self._in_lines = self._in_lines and tag != "pre"
            if tag in _LISTS and self._lists:
                self._lists.pop()
            self._separate(tag, closing=True)

    def _number(self, tag: str, attributes: dict[str, str]) -> None:
        """Write out the number of an item, which a reader sees before it."""
        if tag in _LISTS:
            numbered = tag == "ol" and not _UNNUMBERED.search(attributes.get("style", ""))
            self._lists.append(_whole(attributes.get("start", ""), 1) if numbered else None)
        elif tag == "li" and self._lists and self._lists[-1] is not None:
            number = _whole(attributes.get("value", ""), self._lists[-1])
            self._lists[-1] = number + 1
            self._tell(f"{number}. ")

    def _size(self, tag: str, style: str) -> None:
        """Note an element without a size, and one in it that has one."""
        if self._sizes and self._sizes[-1].tag in _ENDS and tag in _ENDS[self._sizes[-1].tag][0]:
            self._sizes.pop()
        around = self._sizes[-1] if self._sizes else None
        sizeless = _SIZELESS.search(style) is not None
        if tag not in VOID and (sizeless or (around and not around.visible and _SIZED.search(style))):
            self._sizes.append(_Sized(tag, visible=not sizeless))
        elif around and around.tag == tag:
            around.opened += 1

    def _end_size(self, tag: str) -> None:
        """Note the end of an element, and of those in it that were never closed."""
        while self._sizes and self._sizes[-1].tag in _ENDS and tag in _ENDS[self._sizes[-1].tag][1]:
            self._sizes.pop()
        at = next((at for at in range(len(self._sizes) - 1, -1, -1) if self._sizes[at].tag == tag), -1)
        if at >= 0:
            self._sizes[at].opened -= 1
            del self._sizes[at if not self._sizes[at].opened else len(self._sizes) :]

    def _open_formula(self, tag: str) -> None:
        """Begin an element of a formula; its place in the one around it is written out, so that 1/2 does not become 12."""
        if self._formula:
            around = self._formula[-1]
            around.children += 1
            joint = _JOINTS.get(around.tag, "") if around.children > 1 else ""
            self._raised = joint == "^" and tag == "mn"
            self._tell("" if self._raised else joint or " " * (tag == "mfrac" and around.children > 1))
        inner = bool(self._formula) and self._formula[-1].tag in _JOINTS
        grouped = tag == "msqrt" or (inner and tag in ("mrow", "mfrac"))
        self._formula.append(_Part(tag, grouped))
        self._tell("√(" if tag == "msqrt" else "(" if grouped else " " if tag in ("math", "mtr", "mtd") else "")

    def _close_formula(self, tag: str) -> None:
        """End an element of a formula, and those in it that were never closed."""
        if all(part.tag != tag for part in self._formula):
            return
        while self._formula:
            part = self._formula.pop()
            self._raised = False
            self._tell(")" if part.grouped else " " if part.tag == "math" else "")
            if part.tag == tag:
                return

    def _tell(self, text: str) -> None:
        """Add text that the page's structure says."""
        (self._pieces if self._heading is None else self._heading).append(text)

    def _end_silent_before(self, tag: str) -> None:
        """End an invisible element whose end tag was left out, where a tag begins that it cannot hold."""
        if self._silent not in _ENDS:
            return
        if tag in _ENDS[self._silent][0] and not self._nested:
            self._silent = ""
        elif tag in _CONTAINERS:
            self._nested += 1

    def _close_silent(self, tag: str) -> None:
        if self._nested and tag in _CONTAINERS:
            self._nested -= 1
        elif not self._nested and tag == self._silent:
            self._depth -= 1
        elif not self._nested and self._silent in _ENDS and tag in _ENDS[self._silent][1]:
            self._depth = 0
        if not self._depth:
            self._silent = ""

    def add_text(self, data: str) -> None:
        """Process text between tags."""
        if self._in_title:
            self.title.append(data)
        elif self._silent or (self._sizes and not self._sizes[-1].visible):
            return
        elif self._heading is not None:
            self._heading.append(data)
        else:
            text = data.replace("\r", "\n") if self._in_lines else _SPACE.sub(" ", data)
            self._pieces.append(text.translate(_RAISED) if self._raised and text.strip().isdecimal() else text)

    def end_part(self) -> None:
        """End a section."""
        if self._heading is not None:  # a heading that was never closed is text
            self._pieces += ["\n", *self._heading]
            self._heading = None
        text = _GAPS.sub(lambda gap: "\n" if "\n" in gap[0] else " ", "".join(self._pieces))
        text = _CELL_START.sub(" | ", _ROW_START.sub("\n|", text)).replace(_ROW, "\n")
        lines = [" ".join(line.split()).removeprefix("|").rstrip(" |").removeprefix(" ") for line in text.split("\n")]
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

    def _separate(self, tag: str, *, closing: bool = False) -> None:
        """Blocks begin a line, rows are set apart."""
        if self._heading is not None:
            self._heading.append(" ")
        elif tag == "tr":
            self._grid.column = 0
            self._pieces.append("\n" if closing else _ROW)
        elif tag in BLOCKS:
            self._pieces.append("\n")
        if tag == "table" and not closing:
            self._grids.append(_Grid())
        elif tag == "table" and self._grids:
            self._grids.pop()

    @property
    def _grid(self) -> "_Grid":
        if not self._grids:
            self._grids.append(_Grid())
        return self._grids[-1]


class _Sized:
    """An element that sets the size of its text: whether to some, and how many of its name are open."""

    def __init__(self, tag: str, *, visible: bool) -> None:
        self.tag, self.visible, self.opened = tag, visible, 1


class _Part:
    """An element of a formula that is open: how many others have begun in it, and whether it stands in parentheses."""

    def __init__(self, tag: str, grouped: bool) -> None:
        self.tag, self.grouped, self.children = tag, grouped, 0


class _Grid:
    """The columns of a table: a cell that spans others leaves them empty, so that each value stays in its column."""

    def __init__(self) -> None:
        self.column = 0
        self._reached = 0  # the column of the last cell's beginning
        self._rows: dict[int, int] = {}  # column -> the rows that a cell above still takes

    def place(self, attributes: dict[str, str]) -> int:
        """Take the place of a cell; returns by how many columns it lies behind the cell before, 1 where they are neighbours."""
        start = self._reached if self.column else -1
        while self._rows.get(self.column, 0) > 0:
            self._rows[self.column] -= 1
            self.column += 1
        columns, rows = (_spanned(attributes.get(name, "")) for name in ("colspan", "rowspan"))
        apart, self._reached = self.column - start, self.column
        for column in range(self.column, self.column + columns):
            self._rows[column] = rows - 1
        self.column += columns
        return apart


def _whole(value: str, default: int) -> int:
    return int(value) if _INTEGER.fullmatch(value) else default


def _spanned(value: str) -> int:
    return min(max(int(value), 1), _MOST_SPANNED) if value.isdecimal() and len(value) < 5 else 1


def _is_hidden(attributes: Attributes) -> bool:
    return any(
        name == "hidden" or (name == "aria-hidden" and value == "true") or (name == "style" and _HIDDEN_STYLE.search(value))
        for name, value in attributes
    )
