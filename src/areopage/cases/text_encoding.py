"""Find how the text of a file is encoded, reading it in blocks and holding none of them."""

import codecs
import logging
from pathlib import Path

from areopage.errors import DatasetError

logger = logging.getLogger(__name__)

_BLOCK = 1024 * 1024
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# The five bytes that Windows-1252 gives no character to: a file with one of them is something else.
_NOT_CP1252 = b"\x81\x8d\x8f\x90\x9d"


def refuse_binary(path: Path) -> None:
    """Look at the first block of a file that should be text.

    Raises:
        DatasetError: it is UTF-16, or holds NUL bytes as spreadsheets, archives and pictures do.
    """
    with path.open("rb") as stream:
        head = stream.read(_BLOCK)
    if head.startswith(_UTF_16):
        raise DatasetError(f"{path}: the text is UTF-16: save the file as UTF-8")
    if b"\0" in head:
        raise DatasetError(f"{path}: this is not a text file: export it as UTF-8 text")


def find_encoding(path: Path) -> str:
    """Say with which codec a whole file can be decoded: `utf-8-sig`, else `cp1252` with a logged warning.

    The file is read once to its end: an answer from the first rows alone would change in the middle of a dataset.

    Raises:
        DatasetError: the file is neither.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    utf8 = cp1252 = True
    with path.open("rb") as stream:
        while utf8 or cp1252:
            block = stream.read(_BLOCK)
            if utf8:
                try:
                    decoder.decode(block, final=not block)
                except UnicodeDecodeError:
                    utf8 = False
            cp1252 = cp1252 and len(block.translate(None, _NOT_CP1252)) == len(block)
            if not block:
                break
    if utf8:
        return "utf-8-sig"
    if not cp1252:
        raise DatasetError(f"{path}: the text is neither UTF-8 nor Windows-1252: save the file as UTF-8")
    logger.warning("%s is not UTF-8 and was read as Windows-1252: save it as UTF-8 if letters look wrong", path)
    return "cp1252"
