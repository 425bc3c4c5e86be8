"""The records of what is judged."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

Maturity = Literal["Child", "Teen", "YoungAdult", "Emerging"]
MATURITIES: tuple[Maturity, ...] = ("Child", "Teen", "YoungAdult", "Emerging")


class Turn(Struct, frozen=True, kw_only=True):
    """One turn of a conversation that a prompt consists of."""

    role: Literal["user", "assistant"]
    content: str


ChildPlan = Literal["steady", "escalate", "relent"]
MAX_TURNS = 20


class Child(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A simulated child, who writes the user's turns after the prompt: those of a script, or a model in the child's role.

    Args:
        turns: how many turns the child writes in all, the last of the prompt included.
        script: the follow-ups in order. Where they are given, no model is asked for a turn.
        plan: what follow-ups do, for all replies alike: keep to the wish, press for more, or give way.
        age: such as `10`; the other texts describe the child to the model that plays it.
        behaviour: how the child comes near the risk; `situation`: what happens around the conversation.
    """

    turns: Annotated[int, Meta(ge=1, le=MAX_TURNS)] = 3
    script: tuple[str, ...] = ()
    plan: ChildPlan = "steady"
    age: str = ""
    gender: str = ""
    maturity: str = ""
    background: str = ""
    motivation: str = ""
    behaviour: str = ""
    situation: str = ""


class Document(Struct, frozen=True, kw_only=True):
    """A text that a response should rest on. `score` is the retriever's, in its own unit."""

    id: str
    text: str
    title: str = ""
    score: float | None = None
    source: str = ""
    metadata: dict[str, Any] = {}


class Case(Struct, frozen=True, kw_only=True):
    """One thing to judge: a prompt, maybe with its response, the documents it should rest on and a reference answer.

    `maturity` is the audience, already normalised; "" where the suite knows no audience.
    `criteria_selection` overrides the run's selection for this case; "" means the configured default.
    `tags` are words that rules and tables choose cases by. `system` is the case's own system prompt for a target, "" for the
    suite's. `child` goes on with the conversation after the target's first reply; None: there is one reply.
    """

    id: str
    prompt: str | tuple[Turn, ...]
    response: str | None = None
    documents: tuple[Document, ...] = ()
    reference: str | None = None
    category: str = ""
    subcategory: str = ""
    maturity: str = ""
    source: str = ""
    criteria_selection: str = ""
    tags: tuple[str, ...] = ()
    system: str = ""
    child: Child | None = None
    metadata: dict[str, Any] = {}

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The prompt as turns; a plain string is one user turn."""
        return (Turn(role="user", content=self.prompt),) if isinstance(self.prompt, str) else self.prompt

    @property
    def given_replies(self) -> int:
        """How many replies of the assistant stand in the prompt."""
        return 0 if isinstance(self.prompt, str) else sum(turn.role == "assistant" for turn in self.prompt)

    @property
    def is_conversation(self) -> bool:
        """Whether it is a conversation, begun or not: with a reply in the prompt, or a child that goes on."""
        return self.child is not None or self.given_replies > 0

    @property
    def replies(self) -> list[str]:
        """All replies of the assistant, the response last."""
        in_prompt = [turn.content for turn in self.turns if turn.role == "assistant"]
        return in_prompt if self.response is None else [*in_prompt, self.response]

    def numbered_turns(self) -> list[tuple[int, Turn]]:
        """The turns of the prompt, each with the number of the reply that it is or leads to, from 1."""
        numbered: list[tuple[int, Turn]] = []
        number = 1
        for turn in self.turns:
            numbered.append((number, turn))
            number += turn.role == "assistant"
        return numbered

    def at(self, reply: int) -> "Case":
        """The conversation up to one of its replies, by number, which is the response; 0 is all of it."""
        if not 0 < reply <= self.given_replies:
            return self
        turns = self.turns
        place = [number for number, turn in enumerate(turns) if turn.role == "assistant"][reply - 1]
        return replace(self, prompt=turns[:place], response=turns[place].content)

    @property
    def prompt_text(self) -> str:
        """The prompt as one text; several turns are led by their role."""
        if isinstance(self.prompt, str):
            return self.prompt
        return "\n".join(f"{turn.role}: {turn.content}" for turn in self.prompt)


class RejectedRow(Struct, frozen=True, kw_only=True):
    """A row of a dataset that cannot be used. `row` is 1-based and counts the header where there is one."""

    file: str
    row: int
    reason: str
    content: str


class Dataset(Struct, frozen=True, kw_only=True):
    """What a reader made of one or more files.

    `maturity_defaulted` counts the cases that named no maturity and got the suite's default;
    `unread_columns` are columns that no field takes: they are kept in each case's metadata; `response_columns` are those that the
    cases' responses come from; `places` are the file and row that each case comes from, by its id, and `lines` the lines that the
    rows begin on, where the format has lines.
    """

    cases: tuple[Case, ...]
    rejected: tuple[RejectedRow, ...] = ()
    maturity_defaulted: int = 0
    unread_columns: tuple[str, ...] = ()
    response_columns: tuple[str, ...] = ()
    places: dict[str, tuple[str, int]] = {}
    lines: dict[str, int] = {}
