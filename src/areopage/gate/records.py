"""What the gate says. Offsets are in characters; probabilities and shares lie in [0, 1]."""

from typing import Any, Literal

from msgspec import Struct

from areopage.records import plain_data

GateVerdict = Literal["deliver", "fallback", "human_review"]
GATE_VERDICTS: tuple[GateVerdict, ...] = ("deliver", "fallback", "human_review")

SignalName = Literal[
    "retrieval",
    "citations",
    "overlap",
    "figures",
    "references",
    "names",
    "coverage",
    "negation",
    "refusal",
    "language",
    "grounding",
]

ReasonCode = Literal[
    "no_documents",
    "empty_response",
    "no_claim",
    "bare_answer",
    "not_relevant",
    "low_confidence",
    "no_citation",
    "unknown_citation",
    "misattributed_citation",
    "unsupported_figure",
    "misplaced_figure",
    "unsupported_reference",
    "unsupported_name",
    "asserted_by_question",
    "instruction",
    "meaning_not_checked",
    "unsupported_year_or_amount",
    "unsupported_sentence",
    "other_language",
    "admission",
    "unread_language",
    "unread_documents",
    "ignored_scores",
    "computed_figure",
    "altered_figure",
    "unexamined_judge",
    "too_long",
    "too_many_numbers",
    "judge_unsupported",
    "judge_failed",
    "labelled_unsupported",
    "labelled_supported",
]


Change = Literal["negation", "quantifier", "condition", "exception", "bound", "parties", "opposite"]
"""What a sentence changes of a document's sentence that it nearly copies."""


class Place(Struct, frozen=True, kw_only=True):
    """A piece of a text: `text` is its characters `start` to `end`. `document` is a document's id, "" for the response."""

    document: str = ""
    start: int
    end: int
    text: str


class Signal(Struct, frozen=True, kw_only=True):
    """One thing that the gate looked at.

    Args:
        value: the signal's number; None where it does not apply (no citation asked for, no figure in the answer).
        places: what it was seen in, in the response and in documents.
        seconds: elapsed time by the caller's clock; None without a clock.
    """

    name: SignalName
    value: float | None
    places: tuple[Place, ...] = ()
    seconds: float | None = None


class Reason(Struct, frozen=True, kw_only=True):
    """Why an answer does not leave, or is flagged. `decisive` reasons made the verdict; others are only told.

    Args:
        place: the words of the answer that it is about; None where it is about the whole.
        document: the id of the document that comes nearest, "" where none does.
        sentence: index of the sentence in `Decision.sentences`; None where it is about the whole.
        value, threshold: what was compared, where numbers were.
    """

    code: ReasonCode
    decisive: bool
    place: Place | None = None
    document: str = ""
    sentence: int | None = None
    value: float | None = None
    threshold: float | None = None


class SentenceCheck(Struct, frozen=True, kw_only=True):
    """A sentence of the answer. `p_unsupported` is as the decision's; None where it claims nothing, and under v1_1.

    `document` is the id of the document that supports it best, "" where none does at all. `claim` is false for a sentence that
    claims nothing: a greeting, a question, a refusal. `changes` is what it changes of a sentence of a document that it nearly
    copies: whether the meaning is the same was not checked, and a low probability is not stated.
    """

    start: int
    end: int
    text: str
    claim: bool
    p_unsupported: float | None
    document: str = ""
    changes: tuple[Change, ...] = ()
    features: dict[str, float] = {}


class Metrics(Struct, frozen=True, kw_only=True):
    """The figures of the documented rules, by their own names. `avg_score`, `confidence`: None where no document has a score."""

    avg_score: float | None
    confidence: float | None
    cites_ok: bool
    overlap_ratio: float
    hallucination: bool
    quality_pass: bool
    escalate: bool
    num_sources: int


JudgeTrust = Literal["examined", "provisional", "unexamined", "failed", "accepted"]
"""What a judge's word is worth. `examined`: it passed its exam. `provisional`: it passed, on gold rows that no person has
checked. `unexamined`: it took no exam. `failed`: it took one and did not pass; the word of these two may hold an answer, not
release it. `accepted`: it took no exam, and the configuration lets it release answers all the same."""


class AskedJudge(Struct, frozen=True, kw_only=True):
    """The judge that was asked about doubtful sentences.

    Args:
        name, model: as the configuration names them.
        standing: what its word was worth at that moment.
        examine_with: the command that examines it; "" where it has passed.
    """

    name: str
    model: str
    standing: JudgeTrust
    examine_with: str = ""


class Decision(Struct, frozen=True, kw_only=True):
    """What becomes of an answer, and why.

    Args:
        verdict: what is to be done. While `needs_judge` holds, it is what is done if no judge settles it.
        needs_judge: `p_unsupported` lies in the grey band: ask a judge about `doubtful`, then call `resolve`.
        p_unsupported: the probability that the answer says something that the documents do not: the grounding model's, which
            compares words, raised by each figure, reference and name that must be in a document and is not. None where it would
            not say what the verdict says: nothing was read that claims anything, a refusal, another rule holds an answer
            whose words the documents have, the meaning of a near copy was not checked, a judge or people decided, v1_1.
        doubtful: indexes of the sentences that a judge should read, the worst first; empty unless `needs_judge`.
        meaning_not_checked: indexes of the sentences that nearly copy a document, with a word changed that can change the
            meaning, and that no judge and no person has found to be supported.
        reasons: decisive ones first.
        cited_ids: ids in the answer that a document has, as the document writes them; `unknown_ids` are those that none has.
        response_lang, prompt_lang: "fr", "en", or "" where too little text tells.
        refusal: the answer only says that it does not know.
        profile, version: which rules, and a fingerprint of everything that they depend on.
        judged: whether a judge settled it.
        judge: the judge that was asked, and its standing then; None where none was asked or it could not be reached.
    """

    verdict: GateVerdict
    needs_judge: bool
    p_unsupported: float | None
    metrics: Metrics
    sentences: tuple[SentenceCheck, ...]
    signals: tuple[Signal, ...]
    reasons: tuple[Reason, ...]
    doubtful: tuple[int, ...] = ()
    meaning_not_checked: tuple[int, ...] = ()
    cited_ids: tuple[str, ...] = ()
    unknown_ids: tuple[str, ...] = ()
    response_lang: str = ""
    prompt_lang: str = ""
    refusal: bool = False
    profile: str
    version: str
    judged: bool = False
    judge: AskedJudge | None = None

    def signal(self, name: SignalName) -> Signal | None:
        """A signal by its name; None where the profile does not look at it."""
        return next((signal for signal in self.signals if signal.name == name), None)

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain data, for JSON."""
        return plain_data(self)


class SentenceJudgment(Struct, frozen=True, kw_only=True):
    """What a judge says of one doubtful sentence; `supported` is None where it failed to say. `standing`: see `JudgeTrust`."""

    sentence: int
    supported: bool | None
    explanation: str = ""
    standing: JudgeTrust = "examined"
