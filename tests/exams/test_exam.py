"""Exams on a gold set: what is asked, what is kept, and what standing follows."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from areopage.bench import RunOptions
from areopage.bench.execution.context import Observers
from areopage.bench.execution.start import run_benchmark
from areopage.errors import ConfigError, DatasetError, ModelError
from areopage.exams.exam import run_exam
from areopage.exams.exam_plan import (
    Exam,
    ExamWishes,
    prepare_exam,
    variants_of,
)
from areopage.jury.judges import Judge
from areopage.ledger.people.exams import Qualifications
from areopage.ledger.people.standing import standing_key, standing_text
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Judgment
from areopage.models.reference import ModelReference
from areopage.report.elements import report_locale
from areopage.report.judges.qualification import exam_text
from areopage.suites.gold import read_gold
from areopage.suites.loader import Suite, load_suite
from servers.fake_llm import FakeServer
from servers.small_suite import CRITERIA, write_cases, write_config, write_suite

DANGER = "safety.harm.danger__v1_0"
SIDE = 10


class Watching(Observers):
    """Counts calls; stops after some of them."""

    def __init__(self, most: int | None = None) -> None:
        super().__init__()
        self.phases: list[tuple[str, int, int]] = []
        self.calls, self._most = 0, most

    def phase(self, name: str, total: int, kept: int) -> None:
        self.phases.append((name, total, kept))

    def judged(self, judgment: Judgment, cases: Sequence[str]) -> None:
        self.calls += 1
        if self._most is not None and self.calls >= self._most:
            raise KeyboardInterrupt


def gold_row(number: int, *, good: bool, **fields: Any) -> dict[str, Any]:
    band = [4, 5] if good else [0, 1]
    known = {"id": f"g{number}", "language": "en", "prompt": f"Question {number}?", "response": f"Answer {number}."}
    return known | {"bands": {DANGER: band}} | fields


GOLD = [gold_row(number, good=number < SIDE) for number in range(2 * SIDE)]


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    folder = write_suite(tmp_path / "small")
    write_gold(folder, GOLD)
    return load_suite(str(folder))


def write_gold(folder: Path, rows: Sequence[dict[str, Any]]) -> None:
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def recorded(path: Path, good: float = 5, bad: float = 0, passes: int = 2) -> str:
    """A recording of a judge that gives good rows, and cases, one score and bad rows another."""
    lines = [
        {"case_id": row["id"], "criterion": DANGER, "pass_index": number, "score": good if row["bands"][DANGER][0] else bad}
        for row in GOLD
        for number in range(1, passes + 1)
    ]
    lines += [{"case_id": "c", "criterion": DANGER, "pass_index": number, "score": good} for number in range(1, passes + 1)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return f"oracle=replay:{path}"


def exam_of(suite: Suite, judge: str, **wishes: Any) -> Exam:
    return prepare_exam(suite, ExamWishes(judges=(judge,), passes=2, **wishes)).checked()


def standing_of(suite: Suite, judge: str, ledger: Ledger) -> tuple[str, bool]:
    """The state of the judge now, and whether another version of it was examined."""
    panel = prepare_exam(suite, ExamWishes(judges=(judge,))).checked().parts[0].panel
    (found,) = Qualifications(ledger).standings(panel.judges, panel.criteria)
    return found.state, found.older is not None


def test_an_oracle_qualifies_and_its_standing_ends_with_another_model_or_another_text(
    suite: Suite, ledger: Ledger, tmp_path: Path
) -> None:
    oracle = recorded(tmp_path / "oracle.jsonl")
    assert standing_of(suite, oracle, ledger) == ("never_examined", False)
    exam = exam_of(suite, oracle)
    assert exam.size.by_judge == {"oracle": 80}  # two passes and two harmless changes of each row
    result = run_exam(exam, ledger, Watching())
    (one,) = result.qualifications
    assert (one.state, one.criterion, one.whole, one.languages, len(one.items)) == ("qualified", DANGER, True, ("en",), 20)
    assert (one.result.separation.value, one.result.error.value, one.result.sensitivity.value) == (1.0, 0.0, 0.0)
    assert standing_of(suite, oracle, ledger) == ("qualified", False)
    other = recorded(tmp_path / "other.jsonl", good=4)
    assert standing_of(suite, other, ledger) == ("never_examined", True)
    prompt = next(suite.criteria_folder.rglob("danger__v1_0.prompt"))
    prompt.write_text(prompt.read_text(encoding="utf-8").replace("keep clear of", "avoid"), encoding="utf-8")
    assert standing_of(load_suite(str(suite.folder)), oracle, ledger) == ("never_examined", True)


def test_a_judge_that_turns_the_scale_around_is_not_qualified(suite: Suite, ledger: Ledger, tmp_path: Path) -> None:
    turned = recorded(tmp_path / "turned.jsonl", good=0, bad=5)
    (one,) = run_exam(exam_of(suite, turned), ledger, Watching()).qualifications
    assert [(mark.name, mark.state) for mark in one.result.missed] == [("separation", "not_met"), ("error", "not_met")]
    assert standing_of(suite, turned, ledger) == ("not_qualified", False)


def test_an_exam_that_was_stopped_goes_on_where_it_was(suite: Suite, ledger: Ledger, tmp_path: Path) -> None:
    oracle = recorded(tmp_path / "oracle.jsonl")
    exam = exam_of(suite, oracle, concurrency=1)
    with pytest.raises(KeyboardInterrupt):
        run_exam(exam, ledger, Watching(30))
    assert Qualifications(ledger).list() == []
    again = Watching()
    found = run_exam(exam, ledger, again).qualifications
    assert (again.phases, again.calls) == ([("oracle (en)", 80, 30)], 50)
    once_more = Watching()
    assert run_exam(exam, ledger, once_more).qualifications == found  # not stored twice
    assert (once_more.calls, len(Qualifications(ledger).list())) == (0, 1)


def test_an_exam_on_a_part_of_the_gold_set_gives_no_standing(suite: Suite, ledger: Ledger, tmp_path: Path) -> None:
    oracle = recorded(tmp_path / "oracle.jsonl")
    (one,) = run_exam(exam_of(suite, oracle, rows=("g1", "g12")), ledger, Watching()).qualifications
    assert (one.whole, [item.row for item in one.items]) == (False, ["g1", "g12"])
    assert standing_of(suite, oracle, ledger) == ("never_examined", False)


def test_an_exam_on_a_part_of_one_criterions_rows_takes_as_many_of_them() -> None:
    suite = load_suite("child_safety")
    wishes = ExamWishes(judges=("rules:readability",), criteria="age.readability", languages=("en",), limit=12)
    (part,) = prepare_exam(suite, wishes).parts
    assert len(part.rows) == 12


def test_a_salted_exam_asks_anew(suite: Suite, ledger: Ledger, tmp_path: Path) -> None:
    oracle, watching = recorded(tmp_path / "oracle.jsonl"), Watching()
    run_exam(exam_of(suite, oracle, rows=("g1", "g12")), ledger, Watching())
    run_exam(exam_of(suite, oracle, rows=("g1", "g12"), salt="2026-11-24"), ledger, watching)
    assert watching.phases == [("oracle (en)", 8, 0)]


def test_runs_and_checks_of_the_ledger_do_not_see_an_exam(suite: Suite, ledger: Ledger, tmp_path: Path) -> None:
    run_exam(exam_of(suite, recorded(tmp_path / "oracle.jsonl")), ledger, Watching())
    assert (ledger.runs(), ledger.panels("monitor"), ledger.judgment_counts(), ledger.caches.orphans().judgments) == (
        [],
        [],
        {},
        0,
    )


def test_a_run_shows_the_standing_of_its_judges_at_the_time_of_display(suite: Suite, ledger: Ledger, tmp_path: Path) -> None:
    from areopage.bench.results.run_view import view_run

    oracle = recorded(tmp_path / "oracle.jsonl")
    cases = write_cases(tmp_path / "cases.csv", [{"id": "c", "prompt": "Why?", "response": "So.", "age": "9-12"}])
    floors = suite.config.model_copy(
        update={"release": suite.config.model_validate({"release": {"max_failures": {DANGER: 0}}}).release}
    )
    demanding = structs.replace(suite, config=floors)
    wishes = RunOptions(datasets=(cases,), judges=(oracle,), criteria=DANGER, passes=1)
    with pytest.raises(ModelError, match=r"judge oracle .* was never examined on safety.harm.danger"):
        run_benchmark(demanding, wishes, ledger=ledger, out=tmp_path, only_qualified=True)
    assert ledger.runs() == []
    before = run_benchmark(demanding, wishes, ledger=ledger, out=tmp_path)
    release = before.release
    assert release is not None
    assert (before.qualification, release.verdict) == ("never examined", "INCONCLUSIVE")
    run_exam(exam_of(suite, oracle), ledger, Watching())
    after = view_run(before.run, ledger)
    release = after.release
    assert release is not None
    assert (after.qualification, release.verdict) == ("provisionally qualified", "PASS, provisional")
    assert release.provisional == ("oracle",)
    assert standing_text(after.standings) == "provisionally qualified"
    again = run_benchmark(demanding, wishes, ledger=ledger, out=tmp_path, only_qualified=True)
    assert again.qualification == "provisionally qualified"


def test_an_exam_of_one_model_or_recorded_judge_says_nothing_of_another_with_the_same_digest(suite: Suite) -> None:
    write_gold(suite.folder, GOLD)
    danger = prepare_exam(suite, ExamWishes(judges=("ollama:m",))).parts[0].panel.criteria_by_id()[DANGER]

    def key(reference: str, digest: str, name: str = "judge") -> str:
        judge = Judge(name=name, reference=ModelReference.parse(reference), digest=digest, pass_options=({},))
        return standing_key(judge, danger)

    hosted = "server http://127.0.0.1/v1"
    assert key("openai@lab:one", hosted) != key("openai@lab:two", hosted)
    assert key("openai@lab:one", hosted) == key("openai@other:one", hosted, "renamed")
    assert key("replay:jury.jsonl", "ab", "one") != key("replay:jury.jsonl", "ab", "two")
    assert key("ollama:qwen3:8b", "ab") == key("ollama:qwen3:latest", "ab", "renamed")


def test_an_exam_counts_in_full_once_people_have_checked_its_gold_rows(suite: Suite, ledger: Ledger, tmp_path: Path) -> None:
    oracle = recorded(tmp_path / "oracle.jsonl")
    run_exam(exam_of(suite, oracle), ledger, Watching())
    write_gold(suite.folder, [*({**row, "checked_by": ["Anne"]} for row in GOLD[1:]), GOLD[0]])
    (partly,) = run_exam(exam_of(suite, oracle), ledger, Watching()).qualifications
    assert (partly.result.rows, partly.result.checked_rows, partly.result.is_provisional) == (20, 19, True)
    write_gold(suite.folder, [{**row, "checked_by": ["Anne", "Bo"]} for row in GOLD])
    watching = Watching()
    (checked,) = run_exam(exam_of(suite, oracle), ledger, watching).qualifications
    assert (checked.state, checked.result.is_provisional, watching.calls) == ("qualified", False, 0)
    panel = exam_of(suite, oracle).parts[0].panel
    assert standing_text(Qualifications(ledger).standings(panel.judges, panel.criteria)) == "qualified"


def test_an_exam_on_the_floors_asks_about_the_criteria_that_decide_the_verdict(suite: Suite) -> None:
    with pytest.raises(ConfigError, match="sets no floor on criteria"):
        prepare_exam(suite, ExamWishes(judges=("rules:readability",), floors=True))
    insults = "safety.harm.insults__v1_0"
    rows = [*GOLD, gold_row(99, good=True, bands={insults: [4, 5]})]
    write_gold(suite.folder, rows)
    release = suite.config.model_validate({"release": {"max_failures": {DANGER: 0}}}).release
    demanding = structs.replace(suite, config=suite.config.model_copy(update={"release": release}))
    whole = prepare_exam(demanding, ExamWishes(judges=("ollama:m",)))
    floors = prepare_exam(demanding, ExamWishes(judges=("ollama:m",), floors=True))
    assert [sorted(one.id for one in exam.parts[0].panel.criteria) for exam in (whole, floors)] == [[DANGER, insults], [DANGER]]
    assert floors.whole and len(floors.parts[0].rows) == len(GOLD)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (
            gold_row(1, good=True, bands={"safety.harm.nothing__v1_0": [4, 5]}),
            r"gold.jsonl:2: .*no criterion safety.harm.nothing",
        ),
        (gold_row(0, good=True), r"gold.jsonl:2: the id 'g0' is given twice"),
        (gold_row(1, good=True, language="de"), r"gold.jsonl:2: language: .*'de'"),
        (gold_row(1, good=True, bands={DANGER: [5, 4]}), r"gold.jsonl:2: the band of .* ends before"),
        ({"id": "x"}, r"gold.jsonl:2: .*language"),
    ],
    ids=["criterion", "id", "language", "band", "field"],
)
def test_a_wrong_gold_row_is_named_with_its_line(suite: Suite, row: dict[str, Any], fault: str) -> None:
    write_gold(suite.folder, [GOLD[0], row])
    with pytest.raises(DatasetError, match=fault):
        read_gold(suite)


def test_a_band_may_name_a_criterion_by_its_path(suite: Suite) -> None:
    write_gold(suite.folder, [gold_row(1, good=True, bands={"safety.harm.danger": [4, 5]})])
    assert read_gold(suite)[0].bands == {DANGER: (4.0, 5.0)}


def test_harmless_changes_are_the_same_each_time_and_leave_out_what_would_harm() -> None:
    from areopage.cases.records import Case, Document

    documents = (Document(id="a", text="One."), Document(id="b", text="Two."))
    case = Case(id="x", prompt="What?", response="- one\n- two", documents=documents)
    made = variants_of(case, "fr")
    assert made == variants_of(case, "fr")
    assert made["layout"].response == "\n\n* one\n* two\n\n"
    assert made["courtesy"].response == "- one\n- two\n\nBonne journée."
    assert [document.id for document in made["documents"].documents] == ["b", "a"]
    by_place = structs.replace(case, response="As document 2 says.")
    assert list(variants_of(by_place, "en")) == ["layout", "courtesy"]
    assert list(variants_of(structs.replace(case, documents=()), "de")) == ["layout"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('{"id": "é"}'.encode("latin-1"), r"gold.jsonl:1: .*UTF-8"),
        (b"", r"gold.jsonl: .*no gold row"),
        (b"\n \n", r"gold.jsonl: .*no gold row"),
        (b"[" * 100_000, r"gold.jsonl:1: "),
    ],
    ids=["Latin-1", "empty", "blank", "nested"],
)
def test_a_gold_file_that_cannot_be_used_is_refused_with_its_place(suite: Suite, content: bytes, fault: str) -> None:
    (suite.folder / "gold.jsonl").write_bytes(content)
    with pytest.raises(DatasetError, match=fault):
        read_gold(suite)


def test_a_gold_file_may_begin_with_a_byte_order_mark_and_hold_line_separators(suite: Suite) -> None:
    row = gold_row(1, good=True, response="Oui.\u2028Non.\u0085Si.")
    line = json.dumps(row, ensure_ascii=False).encode() + b"\r\n"
    (suite.folder / "gold.jsonl").write_bytes(b"\xef\xbb\xbf" + line)
    assert read_gold(suite)[0].response == "Oui.\u2028Non.\u0085Si."


# --- how models are asked


@pytest.fixture
def served(suite: Suite, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """The suite, with judges on a server."""
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    write_gold(suite.folder, [gold_row(number, good=number < 2) for number in range(4)])
    return suite


def examined(suite: Suite, ledger: Ledger, **wishes: Any) -> Exam:
    exam = exam_of(suite, "one=ollama:fake-a", **wishes)
    run_exam(exam, ledger, Watching())
    return exam


def test_a_joint_exam_asks_as_a_joint_run_and_speaks_for_it(served: Suite, server: FakeServer, ledger: Ledger) -> None:
    exam = examined(served, ledger, joint=True)
    rows, passes, variants = 4, 2, 2
    assert len(server.calls) == exam.size.planned == rows * (passes + variants)
    assert all(len(call.joint_scores) == len(CRITERIA) for call in server.calls)
    (one,) = Qualifications(ledger).list()
    assert one.criterion == DANGER, "the other criteria of a call are not graded"
    panel = exam.parts[0].panel
    known = Qualifications(ledger).standings(panel.judges, panel.criteria, joint=True)[0]
    assert {found.criterion: found.state for found in known.criteria}[DANGER] == one.state
    assert known.otherwise == 0


def test_a_standing_says_where_an_exam_asked_otherwise_than_the_panel(served: Suite, server: FakeServer, ledger: Ledger) -> None:
    single = examined(served, ledger)
    judges, panel = single.judges, exam_of(served, "one=ollama:fake-a", joint=True).parts[0].panel
    found = [Qualifications(ledger).standings(judges, panel.criteria, joint=joint)[0] for joint in (False, True)]
    assert [one.otherwise for one in found] == [0, 1]
    assert found[0].examined_at == found[1].examined_at is not None
    assert "examined in another way" in exam_text(report_locale("en"), found[1])
    assert "examined in another way" not in exam_text(report_locale("en"), found[0])


def test_rows_that_are_alike_share_their_calls(served: Suite, server: FakeServer, ledger: Ledger) -> None:
    same = [{**gold_row(0, good=True), "id": f"same{number}"} for number in range(3)]
    write_gold(served.folder, same)
    exam = examined(served, ledger)
    passes, variants = 2, 2
    assert len(server.calls) == exam.size.planned == passes + variants
    (one,) = Qualifications(ledger).list()
    assert [item.row for item in one.items] == ["same0", "same1", "same2"]


def test_an_exam_asks_every_pass_also_at_temperature_0(served: Suite, server: FakeServer) -> None:
    judges = {"one": {"model": "fake-a", "options": {"temperature": 0}}}
    write_config(served.folder, judge_system={"judges": judges, "evaluation": {"n_passes": 1}})
    exam = prepare_exam(load_suite(str(served.folder)), ExamWishes(passes=3)).checked()
    assert exam.judges[0].passes == 3
