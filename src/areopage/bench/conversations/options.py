"""The options of conversations, from the suite or the user: how many turns, by which plan, and who plays the children."""

from collections.abc import Sequence

from msgspec.structs import replace

from areopage.bench.conversations.children import turns_without_model
from areopage.bench.spec import Target
from areopage.cases import Case, Dataset
from areopage.errors import ModelError
from areopage.jury import answers_no_prompts
from areopage.locales import Note
from areopage.models import ModelReference
from areopage.suites import Suite


def with_children(dataset: Dataset, suite: Suite, turns: int | None) -> Dataset:
    """The dataset with the turns and the plan that the user or the suite sets for every child."""
    section = suite.config.conversations
    changes = {"turns": turns or section.turns, "plan": section.plan}
    settings = {name: value for name, value in changes.items() if value is not None}
    if not settings:
        return dataset
    cases = (case if case.child is None else replace(case, child=replace(case.child, **settings)) for case in dataset.cases)
    return replace(dataset, cases=tuple(cases))


def choose_child(suite: Suite, wanted: str | None) -> Target | None:
    """The model that plays children: the one that the user names, else the suite's, else None.

    The suite's options hold for a model of the user's, too; its price does not.
    """
    section = suite.config.conversations.child
    options = dict(section.options) if section is not None else {}
    if wanted is not None:
        reference, price = ModelReference.typed(wanted), None
    elif section is not None:
        reference = suite.reference(section.model, section.provider, "conversations", "child", "model")
        price = section.price.price() if section.price else None
    else:
        return None
    if reference.provider == "replay" or answers_no_prompts(reference.provider):
        raise ModelError(f"{reference} cannot play a child: name a model")
    return Target(reference=reference, options=options, price=price)


def conversation_remarks(cases: Sequence[Case], target: Target | None, child: Target | None) -> list[Note]:
    """A remark on conversations that end after their script, since no model goes on."""
    if target is None or child is not None:
        return []
    short = [case.id for case in cases if case.child is not None and turns_without_model(case) < case.child.turns]
    return [Note("short_scripts", {"n": len(short), "cases": tuple(short)})] if short else []
