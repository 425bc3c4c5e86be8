"""A suite from nothing: what is written loads, only the texts are left to write, and once they are it judges."""

from pathlib import Path

import pytest

from areopage.errors import ConfigError, CriteriaError, UserError
from areopage.suites.loader import load_suite
from areopage.suites.scaffold import blank_suite
from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import folder_faults, write_cases

CRITERIA = ("conseil.prudence.sans_promesse", "conseil.prudence.risques_dits", "accueil.on.clarte__v2_1")
TEXT = """\
role: "Vous relisez les réponses d’une banque."
task: "La réponse évite-t-elle toute promesse de rendement ?"
scoring_guide: |
  0 - elle promet un rendement
  5 - elle n’en promet aucun
output_format: '{"explanation": "une phrase", "score": 0-5, "evidence_extracts": ["mots exacts"]}'
"""


def test_only_the_texts_are_left_to_write(tmp_path: Path) -> None:
    blank_suite(tmp_path / "banque", CRITERIA, ["fr", "en"])
    faults = folder_faults(str(tmp_path / "banque"))
    assert faults
    assert [fault for fault in faults if "still holds `...`" not in fault] == []
    suite = load_suite(str(tmp_path / "banque"))
    assert tuple(suite.registry.entries) == (*(f"{id}__v1_0" for id in CRITERIA[:2]), CRITERIA[2])
    assert suite.config.languages == ["fr", "en"]
    floors = suite.release_floors()
    assert floors is not None and floors.max_failures == {"critical": 0, "serious": 2}
    assert suite.weights.criteria["conseil.prudence"] == {"sans_promesse": 0.5, "risques_dits": 0.5}


@pytest.mark.parametrize(
    ("criteria", "languages", "told"),
    [
        ((), ["fr"], "one criterion at least"),
        (("Accueil.a.b",), ["fr"], "is not an id"),
        (("a.b",), ["fr"], "is not an id"),
        (("a.b.c", "a.b.c__v1_0"), ["fr"], "given twice"),
        (("a.b.c",), ["de"], "not de"),
        (("a.b.c",), [], "not none"),
    ],
)
def test_what_cannot_be_a_suite_leaves_nothing_behind(
    tmp_path: Path, criteria: tuple[str, ...], languages: list[str], told: str
) -> None:
    with pytest.raises((UserError, CriteriaError), match=told):
        blank_suite(tmp_path / "new", criteria, languages)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_not_touched(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="already exists"):
        blank_suite(tmp_path, ["a.b.c"], ["en"])
    assert list(tmp_path.iterdir()) == []


def test_a_french_suite_from_nothing_judges_recorded_answers(command: Command, server: FakeServer) -> None:
    made = command("suites", "new", "banque", "--blank", "--lang", "fr", "--criteria", "conseil.prudence.sans_promesse")
    assert made.code == 0, made.err
    prompt = command.folder / "banque/assets/criteria/conseil/prudence/sans_promesse__v1_0.prompt"
    assert f"written: {prompt.relative_to(command.folder)}" in made.out
    prompt.write_text(TEXT, encoding="utf-8")
    for path in (command.folder / "banque/assets/criteria_registry.yml", command.folder / "banque/config.yml"):
        path.write_text(path.read_text(encoding="utf-8").replace('"..."', '"Ne promet rien"'), encoding="utf-8")
    checked = command("suites", "validate", "banque")
    assert checked.code == 0, checked.out
    rows = [{"prompt": f"Question {n} ?", "response": f"Réponse {n}."} for n in range(5)]
    write_cases(command.folder / "cases.csv", rows)
    server.judge = lambda call: {"score": 5, "explanation": "Rien n’est promis.", "evidence_extracts": []}
    ran = command("bench", "run", "--suite", "banque", "--dataset", "cases.csv", "--judge", "ollama:fake-a")
    assert ran.code == 3, ran.err
    assert "La suite banque n’a pas de jeu de référence : ses juges ne peuvent pas être examinés." in ran.verdict
    command.qualify()
    shown = command("bench", "show")
    assert shown.verdict.startswith("ACCEPTÉ."), shown.out
    assert server.verdict_calls and all("LECTEUR" not in call.user for call in server.verdict_calls)


def test_criteria_without_blank_are_refused(command: Command) -> None:
    assert "--blank" in command("suites", "new", "x", "--criteria", "a.b.c").refused()


@pytest.mark.parametrize("how", [("--like", "child_safety"), ("--blank", "--criteria", "a.b.c")])
def test_a_new_suite_says_what_judges_without_an_exam_mean(command: Command, how: tuple[str, ...]) -> None:
    assert command("suites", "new", "usual", *how).code == 0
    assert load_suite(str(command.folder / "usual")).config.release.unexamined == "open"  # type: ignore[union-attr]
    made = command("suites", "new", "lax", *how, "--unexamined", "accept")
    assert made.code == 0 and "PASS, judges not examined" in made.err
    assert load_suite(str(command.folder / "lax")).config.release.unexamined == "accept"  # type: ignore[union-attr]
    assert "--unexamined" in command("suites", "new", "other", *how, "--unexamined", "maybe").refused()


def test_a_copy_of_a_suite_without_floors_accepts_nothing(command: Command) -> None:
    refused = command("suites", "new", "quality", "--like", "answer_quality", "--unexamined", "accept").refused()
    assert "sets no floors of a release" in refused and not (command.folder / "quality").exists()
