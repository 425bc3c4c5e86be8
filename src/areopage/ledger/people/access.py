"""API keys, sessions of the pages, and the audit log."""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import structs
from sqlalchemy import Row, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from areopage.errors import UserError
from areopage.ledger.tables.chain import append_sealed
from areopage.ledger.tables.connection import storage_errors
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.rows import TEXTS, decoded, json_text, naive, record_of, row_of, storable
from areopage.ledger.tables.schema import api_keys, audit, sessions
from areopage.ledger.write.operations import ApiKey, AuditEntry, Role

PREFIX = "areo_"
SCORES = "with the judges' scores"
LABELS = "with the labels of raters"
"""The detail of an entry about an answer that was read with them."""
SESSION_LIFE = timedelta(hours=12)
CLOCKS_DIFFER = timedelta(minutes=5)
"""A session that was opened farther in the future is refused: none may last longer than `SESSION_LIFE`."""


class ApiKeys(Store):
    """The table `api_keys`. A key is 256 random bits behind the prefix "areo_"; its SHA-256 is kept, never the key.

    A key is found by its hash through an index. The time of a look-up reveals only something about the hash. A prefix of
    the hash cannot be chosen without trying keys, and the hash reveals nothing of 256 random bits. So a comparison in constant
    time would add nothing, nor would a slow or salted hash, which protects secrets that people choose.
    """

    def create(self, name: str, role: Role, collections: Sequence[str] = ()) -> tuple[ApiKey, str]:
        """Create a key; its text is returned once and cannot be recovered.

        Args:
            collections: the only collections and sources that it gives access to; () for all.

        Raises:
            UserError: a valid key has the name.
        """
        key = PREFIX + secrets.token_urlsafe(32)
        scope = tuple(dict.fromkeys(storable(collection) for collection in collections))
        made_at = datetime.now(UTC)
        record = ApiKey(id=secrets.token_hex(6), name=storable(name), role=role, created_at=made_at, collections=scope)
        row = row_of(record, "revoked_at") | {"hash": _key_hash(key), "collections": json_text(scope) if scope else ""}
        with storage_errors(self._ledger.place):
            try:
                with self._ledger.engine.begin() as connection:
                    connection.execute(insert(api_keys), [row])
            except IntegrityError:
                raise UserError(f"a valid key has the name {name!r}: revoke it first, or choose another name") from None
        return record, key

    def find(self, key: str) -> ApiKey | None:
        """Find the record of a key that is not revoked."""
        query = select(api_keys).where(api_keys.c.hash == _key_hash(key), api_keys.c.revoked_at.is_(None))
        row = self._ledger.row(query)
        return _key_of(row) if row else None

    def revoke(self, id: str) -> bool:
        """Revoke a key by its id; return whether it existed."""
        change = update(api_keys).where(api_keys.c.id == storable(id), api_keys.c.revoked_at.is_(None))
        return self._ledger.change(change.values(revoked_at=naive(datetime.now(UTC)))) > 0

    def list(self) -> Sequence[ApiKey]:
        """Return all keys, newest first."""
        query = select(api_keys).order_by(api_keys.c.created_at.desc(), api_keys.c.id)
        return [_key_of(row) for row in self._ledger.rows(query)]

    def any(self) -> bool:
        """Whether a key was ever created; revoked keys count, so that revoking the last one does not open the server."""
        query = select(api_keys.c.id).limit(1)
        return self._ledger.row(query) is not None


class Sessions(Store):
    """The table `sessions`. A session is a random token, whose SHA-256 is kept: the table opens no session."""

    def open(self, key_id: str, now: datetime) -> str:
        """Open a session of a key and return its token; sessions that are over are removed."""
        token = secrets.token_urlsafe(32)
        with self._ledger.writing() as connection:
            connection.execute(delete(sessions).where(sessions.c.opened_at <= naive(now - SESSION_LIFE)))
            connection.execute(insert(sessions), [{"hash": _key_hash(token), "key_id": key_id, "opened_at": naive(now)}])
        return token

    def find(self, token: str, now: datetime) -> ApiKey | None:
        """Find the key of an open session; None too where the key is revoked."""
        query = select(api_keys).join(sessions, sessions.c.key_id == api_keys.c.id)
        query = query.where(sessions.c.hash == _key_hash(token), api_keys.c.revoked_at.is_(None))
        query = query.where(sessions.c.opened_at > naive(now - SESSION_LIFE), sessions.c.opened_at < naive(now + CLOCKS_DIFFER))
        row = self._ledger.row(query)
        return _key_of(row) if row else None

    def close(self, token: str) -> None:
        """End a session."""
        self._ledger.change(delete(sessions).where(sessions.c.hash == _key_hash(token)))


class Audit(Store):
    """The table `audit`; entries are never changed or removed."""

    def note(self, actor: str, action: str, subject: str, detail: str = "", *, key_id: str = "") -> None:
        """Append an entry.

        Actions: read, label, adjudicate, undo, sign, erase, compact, export, import, release, reparse, key_create, key_revoke,
        settings, login, logout, wrong_key.

        Args:
            key_id: of the API key that acts.
        """
        entry = AuditEntry(at=datetime.now(UTC), actor=actor, key_id=key_id, action=action, subject=subject, detail=detail)
        with self._ledger.writing() as connection:
            append_sealed(connection, audit, [row_of(entry)])

    def note_scores_seen(self, actor: str, answer_id: str, *, key_id: str = "") -> None:
        """Append that an actor reads an answer with the judges' scores of it."""
        self.note(actor, "read", answer_id, SCORES, key_id=key_id)

    def note_labels_seen(self, actor: str, answer_ids: Sequence[str], *, key_id: str = "") -> None:
        """Append that an actor reads the labels of raters who disagree on these answers; once for each answer and actor."""
        self._note_listed(actor, answer_ids, LABELS, key_id)

    def note_scores_listed(self, actor: str, answer_ids: Sequence[str], *, key_id: str = "") -> None:
        """Append that an actor reads a list with the judges' scores of these answers; once for each answer and actor."""
        self._note_listed(actor, answer_ids, SCORES, key_id)

    def _note_listed(self, actor: str, answer_ids: Sequence[str], detail: str, key_id: str) -> None:
        seen = self._seen(answer_ids, detail)
        new = [id for id in dict.fromkeys(answer_ids) if (storable(id), storable(actor)) not in seen]
        entry = AuditEntry(at=datetime.now(UTC), actor=actor, key_id=key_id, action="read", subject="", detail=detail)
        rows = [row_of(structs.replace(entry, subject=id)) for id in new]
        if rows:
            with self._ledger.writing() as connection:
                append_sealed(connection, audit, rows)

    def scores_seen(self, answer_ids: Sequence[str]) -> set[tuple[str, str]]:
        """Return who has read which of these answers with the judges' scores: pairs of an id and a name."""
        return self._seen(answer_ids, SCORES)

    def opinions_seen(self, answer_ids: Sequence[str]) -> set[tuple[str, str]]:
        """Return who has read which of these answers with the judges' scores or with raters' labels, as `scores_seen` does."""
        return self._seen(answer_ids, SCORES, LABELS)

    def _seen(self, answer_ids: Sequence[str], *details: str) -> set[tuple[str, str]]:
        seen = select(audit.c.subject, audit.c.actor).where(audit.c.action == "read", audit.c.detail.in_(details)).distinct()
        return set(map(tuple, self._ledger.rows_in(seen, audit.c.subject, answer_ids)))

    def list(self, *, subject: str | None = None, limit: int = 200) -> Sequence[AuditEntry]:
        """Return the newest entries."""
        query = select(audit) if subject is None else select(audit).where(audit.c.subject == storable(subject))
        return self._ledger.records(AuditEntry, query.order_by(audit.c.number.desc()).limit(limit))


def _key_hash(key: str) -> str:
    return hashlib.sha256(storable(key).encode()).hexdigest()


def _key_of(row: Row[Any]) -> ApiKey:
    collections = decoded(TEXTS, row.collections, f"API key {row.id}", "collections") if row.collections else ()
    return record_of(ApiKey, row, collections=collections)
