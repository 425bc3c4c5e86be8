"""PDF: the text of each page, within bounds of time, pages and characters."""

import logging
import re
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from areopage.errors import DatasetError, MissingExtra, counted
from areopage.rag.ingestion.chunking import SourceFile, SourceText, TextPart, Unread
from areopage.rag.ingestion.pdf_fields import typed_lines
from areopage.rag.ingestion.pdf_letters import is_spelt, with_accents
from areopage.rag.ingestion.pdf_page import read_page
from areopage.text import unbroken

if TYPE_CHECKING:
    from pypdf import PdfReader

# What programs write where the author gives no title: a file's name, "Microsoft Word - notes", "Untitled".
FILE_NAME = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}\Z|\A(?:Microsoft [A-Za-z]+ - |untitled\b|sans titre\b)", re.IGNORECASE)
# What the library's parser is known to raise over a broken file, beside its own exceptions.
BROKEN = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
SHOWN_PAGES = 10
MOST_PAGES = 10_000
MOST_TEXT = 50_000_000
"""Characters of a file; a few bytes may stand for many pages."""
SECONDS, SECONDS_PER_MEGABYTE = 30.0, 10.0
"""What a file may take: a part that is the same for all, and one for its size."""


def read_pdf(file: SourceFile) -> Iterator[SourceText | Unread]:
    """Read a PDF as one document with a part per page. Pages without text are reported."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import DependencyError, PyPdfError
    except ImportError:
        raise MissingExtra("reading PDF", "rag") from None
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it remarks on every oddity of a file
    try:
        with file.path.open("rb") as stream:
            reader = PdfReader(stream)
            if reader.is_encrypted and not reader.decrypt(""):
                raise DatasetError(f"{file.path}: the PDF is encrypted: save it without a password")
            pages, hidden = _page_texts(reader, file)
            title = str(reader.metadata.title or "").strip() if reader.metadata else ""
    except DependencyError:
        raise DatasetError(f"{file.path}: the PDF is encrypted: save it without a password, or install cryptography") from None
    except (PyPdfError, *BROKEN) as error:
        raise DatasetError(f"{file.path}: the PDF cannot be read ({type(error).__name__}): save it anew") from None
    silent = [number for number, text in enumerate(pages, start=1) if not text.strip()]
    if len(silent) == len(pages) and hidden:
        raise DatasetError(f"{file.path}: no reader sees any text of its {len(pages)} pages: all of it is hidden")
    if len(silent) == len(pages):
        raise DatasetError(f"{file.path}: none of its {len(pages)} pages holds text: it was scanned, recognise the text first")
    if silent:
        reason = f"{len(silent)} of {len(pages)} pages hold no text ({_listed(silent)}): the others were read"
        yield Unread(file=file.name, reason=reason)
    unspelt = [number for number, text in enumerate(pages, start=1) if not is_spelt(text)]
    if unspelt:
        reason = f"the letters of {len(unspelt)} of {len(pages)} pages cannot be read with certainty ({_listed(unspelt)})"
        yield Unread(file=file.name, reason=f"{reason}: its fonts do not name them; recognise the text anew")
    if hidden:
        lines = [line for page in hidden.values() for line in page]
        what = f"{counted(len(lines), 'line')} of hidden text on {len(hidden)} of {len(pages)} pages ({_listed(list(hidden))})"
        yield Unread(file=file.name, reason=f"{what}, such as {lines[0]!r}: no reader sees it, so it was left out")
    parts = (TextPart(text=text, page=number) for number, text in enumerate(pages, start=1) if text.strip())
    yield SourceText(parts=tuple(parts), title="" if FILE_NAME.search(title) else title)


def _listed(numbers: list[int]) -> str:
    """The first numbers of pages."""
    return ", ".join(map(str, numbers[:SHOWN_PAGES])) + (", ..." if len(numbers) > SHOWN_PAGES else "")


def _page_texts(reader: "PdfReader", file: SourceFile) -> tuple[list[str], dict[int, tuple[str, ...]]]:
    """The text of each page with what is typed into it, and the hidden texts by page."""
    if len(reader.pages) > MOST_PAGES:
        raise DatasetError(f"{file.path}: has {len(reader.pages):,} pages, more than {MOST_PAGES:,}: split it")
    check = _stopwatch(file)
    texts: list[str] = []
    hidden: dict[int, tuple[str, ...]] = {}
    layers_off = _layers_off(reader)
    length = 0
    for number, page in enumerate(reader.pages, start=1):
        check()
        read = read_page(page, layers_off, check)
        if read.hidden:
            hidden[number] = read.hidden
        text = "\n".join([unbroken(with_accents(read.text.replace("\0", ""))), *filter(None, typed_lines(page))])
        length += len(text)
        if length > MOST_TEXT:
            raise DatasetError(f"{file.path}: its pages hold more than {MOST_TEXT:,} characters: split it")
        texts.append(text)
    return texts, hidden


def _layers_off(reader: "PdfReader") -> frozenset[int]:
    """The numbers of the objects of layers that are not shown."""
    layers = reader.root_object.get("/OCProperties")
    shown = layers.get_object().get("/D") if layers is not None else None
    off = shown.get_object().get("/OFF") if shown is not None else None
    return frozenset(layer.idnum for layer in off.get_object() if hasattr(layer, "idnum")) if off is not None else frozenset()


def _stopwatch(file: SourceFile) -> Callable[..., None]:
    """A function that ends the reading once the file has had its time; the library calls it before each step of a page."""
    seconds = SECONDS + SECONDS_PER_MEGABYTE * file.size / 2**20
    end = time.monotonic() + seconds

    def check(*_: Any) -> None:
        if time.monotonic() > end:
            raise DatasetError(f"{file.path}: it takes more than {seconds:,.0f} s to read: save it anew, or split it")

    return check
