"""Who may enter, and who did what."""

from collections.abc import Sequence

from areopage.ledger.quality_records import ApiKey, AuditEntry, Role
from areopage.ledger.store import Ledger


class ApiKeys:
    """The table `api_keys`. A key is 256 random bits behind the prefix "areo_"; its SHA-256 is kept, never the key."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def create(self, name: str, role: Role) -> tuple[ApiKey, str]:
        """Make a key; the text is shown once and cannot be had again."""
        raise NotImplementedError

    def find(self, key: str) -> ApiKey | None:
        """The record of a key that is not revoked."""
        raise NotImplementedError

    def revoke(self, id: str) -> bool:
        """Revoke a key by its id; returns whether there was one."""
        raise NotImplementedError

    def list(self) -> Sequence[ApiKey]:
        """All keys, the newest first."""
        raise NotImplementedError

    def any(self) -> bool:
        """Whether a key was ever made that is not revoked."""
        raise NotImplementedError


class Audit:
    """The table `audit`; nothing in it is changed or removed."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def note(self, actor: str, action: str, subject: str, detail: str = "") -> None:
        """Append an entry. Actions: read, label, erase, export, key_create, key_revoke, settings."""
        raise NotImplementedError

    def list(self, *, subject: str | None = None, limit: int = 200) -> Sequence[AuditEntry]:
        """The newest entries."""
        raise NotImplementedError
