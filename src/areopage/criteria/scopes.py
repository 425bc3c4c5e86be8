"""What a criterion judges: a response, each reply that a reader saw, a whole conversation, or each reply within one.

A conversation is a case whose prompt is a list of turns and whose response is the last reply of the assistant. Its replies are
numbered from 1. Criteria of the scopes `conversation` and `turn` apply to conversations alone: to a case with several replies, or
with a child that goes on after the first one (the conversation may have been stopped there). Those of the scope `reply` judge the
response of a single answer, and each reply of a conversation.
"""

from collections.abc import Sequence
from typing import Literal, get_args

from areopage.cases import Case

Scope = Literal["response", "reply", "conversation", "turn"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

SINGLE: tuple[Scope, ...] = ("response", "reply")
"""The scopes that concern single answers, too."""
BY_REPLY: tuple[Scope, ...] = ("reply", "turn")
"""The scopes in which each reply of a conversation is judged."""

WHOLE = 0
"""The number of the turn where the case is judged as a whole: its response, or all its replies together."""


def concerns(scope: Scope, case: Case) -> bool:
    """Whether a criterion of a scope concerns a case at all."""
    return scope in SINGLE or case.is_conversation


def turns_to_judge(scope: Scope, case: Case, from_dataset: int = 0) -> Sequence[int]:
    """The numbers of the replies that a criterion is judged on, `WHOLE` where there is one judgment of the case.

    A conversation without a response will have as many replies more as its child has turns.

    Args:
        from_dataset: how many replies came with the dataset where a target gave those that follow: these are not judged.
    """
    if scope not in BY_REPLY or not (scope == "turn" or case.is_conversation):
        return (WHOLE,)
    in_prompt = case.given_replies
    if case.response is None:
        return range(in_prompt + 1, in_prompt + 1 + (case.child.turns if case.child is not None else 1))
    return range(from_dataset + 1, in_prompt + 2)
