"""PDF: the text of every page."""

import logging
import struct
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from areopage.errors import DatasetError, MissingExtra
from areopage.rag.ingestion.chunking import Found, Part, SourceText, Unread

if TYPE_CHECKING:
    from pypdf import PdfReader

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


def read_pdf(file: Found) -> Iterator[SourceText | Unread]:
    """Read a PDF as one document with a part per page.

    Pages without text are reported.

    Raises:
        DatasetError: it is encrypted, scanned (no page holds text) or broken.
        MissingExtra: pypdf is not installed.
    """
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
            pages = [_page_text(reader, number) for number in range(len(reader.pages))]
            title = str(reader.metadata.title or "") if reader.metadata else ""
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
    parts = (Part(text=text, page=number) for number, text in enumerate(pages, start=1) if text.strip())
    yield SourceText(parts=tuple(parts), title=title.strip())


def _page_text(reader: "PdfReader", number: int) -> str:
    """The text of a page, counted from 0, on printable characters."""
    return reader.pages[number].extract_text().replace("\0", "")
