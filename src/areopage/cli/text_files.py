"""Files of text that are named on the command line."""

from pathlib import Path

from areopage.errors import UserError

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_text_file(path: Path, max_bytes: int, wanted: str) -> str:
    """The text of a file.

    Args:
        wanted: what to give instead of a file that is too large.

    Raises:
        UserError: it is too large, or no text.
        OSError: it is missing, a folder, or may not be read.
    """
    with path.open("rb") as file:
        content = file.read(max_bytes + 1)  # a device or a pipe has no size, and may never end
    if content.startswith(b"%PDF-"):
        raise UserError(f"{path}: a PDF, not text: save its text as UTF-8")
    if len(content) > max_bytes:
        raise UserError(f"{path}: larger than {max_bytes:,} bytes: give {wanted}")
    if b"\0" in content and not content.startswith(_UTF_16):
        raise UserError(f"{path}: not text: it holds a NUL character")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text: save it as UTF-8") from None
