"""Who may do what: API keys, sessions of the pages, and forms that only our own pages may send."""

from collections.abc import Awaitable, Callable

from msgspec import Struct
from starlette.datastructures import FormData
from starlette.requests import Request

from areopage.ledger.quality_records import Role


class Actor(Struct, frozen=True, kw_only=True):
    """Who is asking. `name` is the key's name, or "local" on a server without keys that only this computer reaches."""

    name: str
    role: Role


def require(role: Role) -> Callable[[Request], Awaitable[Actor]]:
    """A FastAPI dependency (`actor: Annotated[Actor, Depends(require("read"))]`): the actor, who has at least this role.

    An API call shows `Authorization: Bearer KEY`; a page has a session cookie, and a page without one is sent to `/login`.
    """
    raise NotImplementedError


def csrf_token(request: Request) -> str:
    """The token that a page of this session puts into its forms, as the hidden field `csrf`."""
    raise NotImplementedError


async def checked_form(request: Request) -> FormData:
    """A FastAPI dependency: the form, which one of our own pages sent (token and origin are checked)."""
    raise NotImplementedError
