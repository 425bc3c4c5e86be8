"""The gold set of the judge of doubtful sentences: answers over documents, with the sentences that a gate asks about.

A row holds a whole answer. The exam shows the judge what a decision would: `judged_case` makes it of the row.
"""

from areopage.checking.judging import CRITERION, LANGUAGES, SCALE, SUITE, judged_case, within_one_call
from areopage.errors import DatasetError
from areopage.suites import BUNDLED, GOLD_FILE, GoldRow, typed_lines
from areopage.text import sentences

PATH = BUNDLED / SUITE / GOLD_FILE


class JudgeGoldRow(GoldRow, frozen=True, kw_only=True):
    """An answer with what a judge must find about its `doubtful` sentences; about all of them, where none is named."""

    supported: bool
    doubtful: tuple[int, ...] = ()
    kind: str

    def as_asked(self) -> GoldRow:
        """The row with the prompt, the response and the documents that the gate shows its judge.

        Any score below the best one holds an answer: the band of an unsupported row is the lowest score.

        Raises:
            DatasetError: the answer has no such sentence, or one call cannot show all of them.
        """
        prompt = self.prompt if isinstance(self.prompt, str) else self.case().prompt_text
        spans = sentences(self.response, self.language)
        wanted = self.doubtful or tuple(range(len(spans)))
        if not all(0 <= index < len(spans) for index in wanted) or within_one_call(spans, wanted) != wanted:
            raise DatasetError(f"gold row {self.id}: one call cannot show the sentences {list(wanted)} of {len(spans)}")
        case = judged_case(prompt, self.response, self.documents, spans, wanted)
        best = SCALE.max if self.supported else SCALE.min
        return GoldRow(
            id=self.id,
            language=self.language,
            prompt=case.prompt,
            response=case.response or "",
            documents=case.documents,
            bands={CRITERION: (best, best)},
            checked_by=self.checked_by,
        )


def read_judge_gold(language: str) -> tuple[GoldRow, ...]:
    """The rows of a language, as a judge is asked about them.

    Raises:
        DatasetError: a line of the file is wrong, or the language has no rows.
    """
    rows = tuple(row.as_asked() for _, row in typed_lines(PATH, JudgeGoldRow) if row.language == language)
    if not rows:
        raise DatasetError(f"no gold row is in {language}: use {' or '.join(LANGUAGES)}")
    return rows
