"""What a criterion judges: a response, each reply that a reader saw, a whole conversation, or each reply within one.

A conversation is a case whose prompt is a list of turns and whose response is the last reply of the assistant. Its replies are
numbered from 1. Criteria of the scopes `conversation` and `turn` apply to conversations alone: to a case with several replies, or
with a child that goes on after the first one (the conversation may have been stopped there). Those of the scope `reply` judge the
response of a single answer, and each reply of a conversation.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import msgspec

from areopage.cases import Case, Turn

Scope = Literal["response", "reply", "conversation", "turn"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

SINGLE: tuple[Scope, ...] = ("response", "reply")
"""The scopes that concern single answers, too."""
BY_REPLY: tuple[Scope, ...] = ("reply", "turn")
"""The scopes in which each reply of a conversation is judged."""

WHOLE = 0
"""The number of the turn where the case is judged as a whole: its response, or all its replies together."""


def given_replies(case: Case) -> int:
    """The replies of the assistant that stand in the prompt."""
    return 0 if isinstance(case.prompt, str) else sum(turn.role == "assistant" for turn in case.prompt)


def is_conversation(case: Case) -> bool:
    """Whether a case is a conversation, begun or not."""
    return case.child is not None or given_replies(case) > 0


def concerns(scope: Scope, case: Case) -> bool:
    """Whether a criterion of a scope concerns a case at all."""
    return scope in SINGLE or is_conversation(case)


def turns_to_judge(scope: Scope, case: Case, given: int = 0) -> Sequence[int]:
    """The numbers of the replies that a criterion is judged on, `WHOLE` where there is one judgment of the case.

    A conversation without a response will have as many replies more as its child has turns.

    Args:
        given: how many replies came with the dataset where a target gave those that follow: these first ones are not judged.
    """
    if scope not in BY_REPLY or not (scope == "turn" or is_conversation(case)):
        return (WHOLE,)
    in_prompt = given_replies(case)
    if case.response is None:
        return range(in_prompt + 1, in_prompt + 1 + (case.child.turns if case.child is not None else 1))
    return range(given + 1, in_prompt + 2)


def case_at(case: Case, turn: int) -> Case:
    """The conversation up to one of its replies, which is the response; `WHOLE` is all of it."""
    if turn == WHOLE or turn > given_replies(case):
        return case
    turns = case.turns
    place = [number for number, turn_at in enumerate(turns) if turn_at.role == "assistant"][turn - 1]
    return msgspec.structs.replace(case, prompt=turns[:place], response=turns[place].content)


def numbered_turns(case: Case) -> list[tuple[int, Turn]]:
    """The turns of the prompt, each with the number of the reply that it is or leads to."""
    numbered: list[tuple[int, Turn]] = []
    number = 1
    for turn in case.turns:
        numbered.append((number, turn))
        number += turn.role == "assistant"
    return numbered


def replies(case: Case) -> list[str]:
    """All replies of the assistant, the response last."""
    in_prompt = [turn.content for turn in case.turns if turn.role == "assistant"]
    return in_prompt if case.response is None else [*in_prompt, case.response]
