"""A recording as a judge: `replay:PATH`, in the format of `areopage.models.replay`.

A recorded text is read like any answer of a model, once: another call would bring the same text. A recorded score, or that the
criterion does not apply, is the outcome of a judge that is code.
"""

from areopage.jury.addressing import signs_of
from areopage.jury.code_judge import permitted
from areopage.jury.judges import CallContext, CallResult, JudgeStatus, PlannedCall
from areopage.jury.reader import Reading, material_of, read_answer
from areopage.models import ModelReference, ModelSettings, RecordingFile
from areopage.scoring import NotApplicable, Outcome, Refused, Scored


class ReplayJudge:
    """Judges by a recording; see `areopage.jury.judges.JudgeBackend`."""

    max_concurrency: int | None = None

    def __init__(self, reference: ModelReference, file: RecordingFile) -> None:
        self.reference = reference
        self._file = file

    async def check(self) -> JudgeStatus:
        """Read the file; return the SHA-256 of its bytes as digest.

        A judge is replayed on its recorded criteria, and is as fit as the recorded one.
        """
        recording = await self._file.read()
        return JudgeStatus(
            digest=recording.digest,
            recorded=recording.scopes(),
            passes=recording.passes(),
            origins=recording.origins(),
            kind="recording",
        )

    async def judge(self, call: PlannedCall, context: CallContext) -> CallResult:
        """Return the recorded outcome; a call without a recording is refused."""
        criteria = ",".join(criterion.id for criterion in call.criteria)
        line = (await self._file.read()).find(call.case, call.judge.name, criteria, call.pass_index, call.turn or None)
        if line is None:
            place = f"pass {call.pass_index}" + (f", reply {call.turn}" if call.turn else "")
            missing = f"case {call.case.id!r}, criterion {criteria}, {place}, asked of {call.judge.name!r}"
            return call.without_answer(Refused(reason=f"nothing recorded in {self._file.path} for {missing}"))
        if line.text is not None:
            reading = read_answer(line.text, line.finish_reason, call.criteria, material_of(call.case))
        else:
            outcome: Outcome = NotApplicable(explanation=line.explanation)
            if line.score is not None:
                outcome = Scored(score=line.score, explanation=line.explanation, evidence=line.evidence_extracts)
            reading = Reading(outcomes={criterion.id: permitted(outcome, criterion) for criterion in call.criteria}, steps=())
        return CallResult(
            outcomes=reading.outcomes,
            raw_text=line.text or "",
            finish_reason=line.finish_reason,
            prompt_tokens=line.prompt_tokens,
            completion_tokens=line.completion_tokens,
            seconds=line.seconds,
            repair=reading.repair,
            steps=(*reading.steps, *(signs_of(call.case) if line.text is not None else ())),
        )

    async def aclose(self) -> None:
        """Do nothing."""


def open_judge(reference: ModelReference, settings: ModelSettings) -> ReplayJudge:
    """Open a recording; the first check or call reads the file."""
    return ReplayJudge(reference, RecordingFile(reference, settings))
