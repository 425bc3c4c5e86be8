"""PDF: the text of each page, within bounds of time, pages and characters."""

import logging
import re
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from areopage.errors import DatasetError, MissingExtra
from areopage.rag.ingestion.chunking import SourceFile, SourceText, TextPart, Unread
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
            pages = _page_texts(reader, file)
            title = str(reader.metadata.title or "").strip() if reader.metadata else ""
    except DependencyError:
        raise DatasetError(f"{file.path}: the PDF is encrypted: save it without a password, or install cryptography") from None
    except (PyPdfError, *BROKEN) as error:
        raise DatasetError(f"{file.path}: the PDF cannot be read ({type(error).__name__}): save it anew") from None
    silent = [number for number, text in enumerate(pages, start=1) if not text.strip()]
    if len(silent) == len(pages):
        raise DatasetError(f"{file.path}: none of its {len(pages)} pages holds text: it was scanned, recognise the text first")
    if silent:
        shown = ", ".join(map(str, silent[:SHOWN_PAGES])) + (", ..." if len(silent) > SHOWN_PAGES else "")
        yield Unread(file=file.name, reason=f"{len(silent)} of {len(pages)} pages hold no text ({shown}): the others were read")
    parts = (TextPart(text=text, page=number) for number, text in enumerate(pages, start=1) if text.strip())
    yield SourceText(parts=tuple(parts), title="" if FILE_NAME.search(title) else title)


def _page_texts(reader: "PdfReader", file: SourceFile) -> list[str]:
    """The text of each page."""
    if len(reader.pages) > MOST_PAGES:
        raise DatasetError(f"{file.path}: has {len(reader.pages):,} pages, more than {MOST_PAGES:,}: split it")
    check = _stopwatch(file)
    texts: list[str] = []
    length = 0
    for page in reader.pages:
        check()
        text = unbroken(page.extract_text(visitor_operand_before=check).replace("\0", ""))
        length += len(text)
        if length > MOST_TEXT:
            raise DatasetError(f"{file.path}: its pages hold more than {MOST_TEXT:,} characters: split it")
        texts.append(text)
    return texts


def _stopwatch(file: SourceFile) -> Callable[..., None]:
    """A function that ends the reading once the file has had its time; the library calls it before each step of a page."""
    seconds = SECONDS + SECONDS_PER_MEGABYTE * file.size / 2**20
    end = time.monotonic() + seconds

    def check(*_: Any) -> None:
        if time.monotonic() > end:
            raise DatasetError(f"{file.path}: it takes more than {seconds:,.0f} s to read: save it anew, or split it")

    return check
