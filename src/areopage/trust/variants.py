"""Harmless changes of a case: what must not move a score. They are the same each time."""

import re
from collections.abc import Callable, Mapping

from msgspec import structs

from areopage.cases import Case

_BULLET = re.compile(r"^([ \t]*)[-+*]([ \t]+)", re.MULTILINE)
_NTH = r"\b(?:first|second|last|premier|deuxième|dernier)\s+document"
_PLACE = re.compile(rf"\[\d+\]|\bdocuments?\s*(?:n[°o]\s*)?\d|{_NTH}", re.IGNORECASE)
_FAREWELL: Mapping[str, str] = {"en": "Have a good day.", "fr": "Bonne journée."}


def _with_layout(case: Case, language: str) -> Case | None:
    """Blank lines around the response, and another sign before the items of lists."""
    response = _BULLET.sub(lambda bullet: f"{bullet[1]}{'*' if '-' in bullet[0] else '-'}{bullet[2]}", case.response or "")
    return structs.replace(case, response=f"\n\n{response}\n\n")


def _with_courtesy(case: Case, language: str) -> Case | None:
    """A polite sentence after the response that claims no feeling and gives no advice."""
    farewell = _FAREWELL.get(language)
    return structs.replace(case, response=f"{case.response}\n\n{farewell}") if farewell else None


def _with_documents_reversed(case: Case, language: str) -> Case | None:
    """The documents in the other order; not where a text names them by their place."""
    texts = [case.prompt_text, case.response or "", *(document.text for document in case.documents)]
    if len(case.documents) < 2 or any(_PLACE.search(text) for text in texts):
        return None
    return structs.replace(case, documents=case.documents[::-1])


VARIANTS: Mapping[str, Callable[[Case, str], Case | None]] = {
    "layout": _with_layout,
    "courtesy": _with_courtesy,
    "documents": _with_documents_reversed,
}


def variants_of(case: Case, language: str, wanted: tuple[str, ...] = tuple(VARIANTS)) -> dict[str, Case]:
    """The changed cases by the name of the change; without those that cannot be made.

    Args:
        language: of the case.
        wanted: names of `VARIANTS`.
    """
    made = {name: VARIANTS[name](case, language) for name in wanted}
    return {name: variant for name, variant in made.items() if variant is not None}
