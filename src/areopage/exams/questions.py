"""What an audit asks a judge: each question is a changed case on a criterion, with or without a protection.

The cases are graded responses of a suite's gold set, and pairs that say the same in English and in French.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, structs

from areopage.cases import Case, Document
from areopage.criteria import HARDENED, Criterion, Hardening, Scale, short_names
from areopage.errors import DatasetError
from areopage.exams.asking import criteria_named
from areopage.exams.attacks import Attack, AttackBlanks, attack_text, placed, twin_text
from areopage.exams.probes import BASE, HARDENED_PROBES, VARIANTS, Probe, Setting, is_harmless, names_of_families
from areopage.jury import CallPlan, Judge, JudgedCase, Panel, PlannedCall
from areopage.scoring import LOW
from areopage.suites import GoldRow, Suite, read_gold, typed_lines

NOTHING, EVERYTHING = "", "everything"
ASKED_WITHOUT: Mapping[str, Hardening] = {
    **{name: structs.replace(HARDENED, **{name: False}) for name in ("fence", "tokens", "reminder", "schema")},
    EVERYTHING: Hardening(fence=False, tokens=False, reminder=False, schema=False, planted=False, doubt=False, window=False),
}
"""The protections that change what a judge is asked, by name."""
READ_WITHOUT = ("planted", "doubt", "window")
"""The protections that change how an answer is read: they need no further call."""

PAIRS_FILE = "pairs.jsonl"

ATTACK, TWIN = "attack:", "twin:"
FORWARD, BACKWARD = "criteria_in_order", "criteria_reversed"
ENGLISH, FRENCH = "english", "french"


class AuditSide(Struct, frozen=True, kw_only=True):
    """One language of a pair."""

    prompt: str
    response: str
    documents: tuple[Document, ...] = ()


class AuditPair(Struct, frozen=True, kw_only=True):
    """The same question, answer and documents in both languages."""

    id: str
    criteria: tuple[str, ...]
    en: AuditSide
    fr: AuditSide
    maturity: str = ""

    def case(self, language: str) -> Case:
        """The case in a language."""
        side = self.en if language == "en" else self.fr
        return Case(id=self.id, prompt=side.prompt, response=side.response, documents=side.documents, maturity=self.maturity)


class AuditQuestion(Struct, frozen=True, kw_only=True):
    """One thing to ask.

    Args:
        probe, variant: see `probes`; of an injection the variant names the attack, or its twin.
        without: the protection that is left out; "" for none.
        case: the id of the unchanged case.
        judged: what the judge is asked about.
        joint: all criteria in one call.
        passes: how often.
    """

    probe: Probe | None
    variant: str
    without: str = NOTHING
    case: str
    judged: JudgedCase
    joint: bool = False
    passes: int = 1


class AuditMaterial(Struct, frozen=True, kw_only=True):
    """The cases of an audit, the bad ones in which attacks are put, and the attacks."""

    graded: tuple[GoldRow, ...]
    pairs: tuple[AuditPair, ...]
    bad: tuple[GoldRow, ...]
    attacks: tuple[Attack, ...]


def graded_responses(suite: Suite, language: str) -> tuple[GoldRow, ...]:
    """The responses of a suite's gold set in a language that have a band of scores; conversations are left out."""
    rows = [row for row in read_gold(suite) if row.language == language and row.bands and isinstance(row.prompt, str)]
    if not rows:
        raise DatasetError(f"the gold set of the suite {suite.name} has no response in {language!r}")
    return tuple(rows)


def pairs_of(suite: Suite, limit: int | None) -> tuple[AuditPair, ...]:
    """The pairs of a suite; none where it has no file of them."""
    path = suite.folder / PAIRS_FILE
    return tuple(pair for _, pair in typed_lines(path, AuditPair))[:limit] if path.is_file() else ()


def questions(
    panel: Panel, judge: Judge, material: AuditMaterial, probes: Sequence[Probe], without: Sequence[str] = ()
) -> tuple[AuditQuestion, ...]:
    """All questions of an audit, the unchanged cases first; what tries to move the score is also asked `without` protections."""
    all_questions: list[AuditQuestion] = []
    rows = {row.id: row for row in (*material.graded, *material.bad)}
    for name in (NOTHING, *without):
        chosen = [probe for probe in probes if name == NOTHING or probe in HARDENED_PROBES]
        changed = [*_changes(panel, judge, material.graded, chosen), *_injections(panel, judge, material, chosen)]
        needed = dict.fromkeys((question.case, question.judged.criteria) for question in changed)
        bases = [
            structs.replace(_question(None, BASE, rows[id].case(), criteria, id), passes=2 if name == NOTHING else 1)
            for id, criteria in needed
        ]
        all_questions += [structs.replace(question, without=name) for question in (*bases, *changed)]
    all_questions += _orders_of_criteria(panel, judge, material.graded) if "order" in probes else []
    all_questions += _languages(panel, judge, material.pairs) if "language" in probes else []
    return tuple(all_questions)


def planned(panel: Panel, judge: Judge, questions: Sequence[AuditQuestion]) -> dict[int, tuple[PlannedCall, ...]]:
    """The calls of each question, by its place: grouped by criteria, so that a server keeps the constant part of a prompt.

    A question about criteria that are judged apart has one criterion.
    """
    calls: dict[int, list[PlannedCall]] = {}
    for key in dict.fromkeys((question.without, question.joint, question.passes) for question in questions):
        without, joint, passes = key
        places = [place for place, question in enumerate(questions) if (question.without, question.joint, question.passes) == key]
        cases = []
        for place in places:  # a case has the number of its question: a judgment's key does not depend on the id
            judged = questions[place].judged
            cases.append(structs.replace(judged, case=structs.replace(judged.case, id=str(place))))
        repeated = structs.replace(judge, pass_options=judge.pass_options[:1] * (passes if judge.kind != "code" else 1))
        hardening = ASKED_WITHOUT.get(without, HARDENED)
        for call in CallPlan(repeated, cases, panel.personas, panel.salt, joint=joint, hardening=hardening):
            calls.setdefault(int(call.case.id), []).append(call)
    return {place: tuple(calls_of_question) for place, calls_of_question in calls.items()}


def _question(probe: Probe | None, variant: str, case: Case, criteria: tuple[Criterion, ...], id: str) -> AuditQuestion:
    return AuditQuestion(probe=probe, variant=variant, case=id, judged=JudgedCase(case=case, criteria=criteria))


def _changes(panel: Panel, judge: Judge, graded: Sequence[GoldRow], probes: Sequence[Probe]) -> Iterator[AuditQuestion]:
    own_model, other = names_of_families(judge.reference.model)
    for variant in VARIANTS:
        if variant.probe not in probes:
            continue
        for row in graded:
            for criterion in criteria_named(panel, list(row.bands), judge)[:1]:
                best, worst = _ends(criterion)
                setting = Setting(language=row.language, top=best, bottom=worst, own_name=own_model, other_name=other)
                case = variant.change(row.case(), setting) if is_harmless(variant.probe, criterion) else None
                if case is not None:
                    yield _question(variant.probe, variant.name, case, (criterion,), row.id)


def _ends(criterion: Criterion) -> tuple[float, float]:
    """The best and the worst score of a criterion."""
    scale = criterion.scale
    return (scale.max, scale.min) if scale.higher_is_better else (scale.min, scale.max)


def bad_criterion(panel: Panel, judge: Judge, graded: GoldRow) -> Criterion | None:
    """The first criterion by which a response is bad beyond dispute: its whole band lies at the worse end of the scale."""
    for criterion in criteria_named(panel, list(graded.bands), judge):
        if max(criterion.scale.map_to(end, Scale(0.0, 1.0)) for end in graded.bands[criterion.id]) <= LOW:
            return criterion
    return None


def _injections(panel: Panel, judge: Judge, material: AuditMaterial, probes: Sequence[Probe]) -> Iterator[AuditQuestion]:
    """Each attack, and then its twin, in one bad response after the other."""
    if "injections" not in probes or not material.bad:
        return
    for place, attack in enumerate(material.attacks):
        row = material.bad[place % len(material.bad)]
        criterion = bad_criterion(panel, judge, row)
        if criterion is None:
            continue
        names = short_names(panel.criteria)
        blanks = AttackBlanks(language=row.language, top=_ends(criterion)[0], keys=(criterion.name, names[-1]))
        for kind, text in ((ATTACK, attack_text(attack, blanks)), (TWIN, twin_text(attack, blanks))):
            case = placed(row.case(), attack.place, text)
            yield _question("injections", f"{kind}{attack.id}", case, (criterion,), row.id)


def _orders_of_criteria(panel: Panel, judge: Judge, graded: Sequence[GoldRow]) -> Iterator[AuditQuestion]:
    """Each case in two orders of its criteria, asked jointly; code judges each criterion by itself.

    A case with one graded criterion is also asked about another one of the suite: an order needs two.
    """
    every = criteria_named(panel, panel.criteria_by_id(), judge)
    if len(every) > 1 and judge.is_model:
        for row in graded:
            of_judge = criteria_named(panel, row.bands, judge)
            criteria = of_judge if len(of_judge) > 1 else (*of_judge, next(other for other in every if other not in of_judge))
            for name, ordered in ((FORWARD, criteria), (BACKWARD, criteria[::-1])):
                yield structs.replace(_question("order", name, row.case(), ordered, row.id), joint=True)


def _languages(panel: Panel, judge: Judge, pairs: Sequence[AuditPair]) -> Iterator[AuditQuestion]:
    for pair in pairs:
        for criterion in criteria_named(panel, pair.criteria, judge)[:1]:
            for name, language in ((ENGLISH, "en"), (FRENCH, "fr")):
                yield _question("language", name, pair.case(language), (criterion,), pair.id)
