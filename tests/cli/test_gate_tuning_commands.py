"""`areopage gate report`, `tune` and `replay`: what they write, refuse, and end with."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from areopage.app.gate_rules import load_rules
from areopage.gate.tuning.labelled import response_digest
from areopage.gate.tuning.tuned import FITTED_RESPONSES
from servers.command import Command, Ended
from servers.gate_answers import BAD, DOCUMENT, GOOD, QUESTION, filled, imported, label, trace

SAFE = 130


@pytest.fixture
def gate(command: Command) -> Command:
    """A ledger of twenty answers, five of them held back, five labelled, and two rows of an old log."""
    good = [trace(number, prompt=asked(number), collection="a" if number % 2 else "b") for number in range(1, 16)]
    bad = [trace(number, BAD, prompt=asked(number)) for number in range(16, 21)]
    labels = [label(good[0], "yes"), label(good[1], "no"), label(bad[0], "no", sentences=(1,))]
    command.outputs.mkdir()
    filled(command.outputs / "ledger.db", [*good, *bad, imported(21), imported(22, verdict="fallback")], labels).close()
    return command


def asked(number: int) -> str:
    """A question of its own."""
    return f"{QUESTION} (demande {number})"


def labels_file(folder: Path, good: int, bad: int, **fields: Any) -> Path:
    """Labelled answers, each of its own question."""
    rows = []
    for number in range(good + bad):
        text = f"Le dossier {number} est clos au bout de {number + 2} jours ouvrés après son dépôt."
        invented = " Une girafe volante accompagne alors le cyclone vers la lagune dorée."
        response = text + (invented if number >= good else "")
        label = "yes" if number < good else "no"
        rows.append({"prompt": f"Dossier {number} ?", "response": response, "documents": [text], "grounded": label} | fields)
    path = folder / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_report_goes_to_the_screen_as_markdown(gate: Command) -> None:
    ended = gate("gate", "report", "--lang", "en")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("# Quality gate report – All answers")
    assert "22 answers" in ended.out


def test_several_forms_go_to_a_folder(gate: Command) -> None:
    ended = gate("gate", "report", "--output", "out/", "--format", "html,md,json")
    assert ended.code == 0
    names = sorted(path.name for path in (gate.folder / "out").iterdir())
    assert names == ["gate-report.html", "gate-report.json", "gate-report.md"]
    assert '<html lang="fr">' in (gate.folder / "out" / "gate-report.html").read_text(encoding="utf-8")


def test_the_ending_of_a_file_says_the_form_and_options_narrow(gate: Command) -> None:
    assert gate("gate", "report", "--output", "r.json", "--collection", "b").code == 0
    assert json.loads((gate.folder / "r.json").read_text(encoding="utf-8"))["answers"] == 7
    assert gate("gate", "report", "--output", "r.json", "--since", "2026-11-17").code == 0
    assert json.loads((gate.folder / "r.json").read_text(encoding="utf-8"))["answers"] == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--since", "soon"), "--since 'soon': give a day as YYYY-MM-DD"),
        (("--since", "2026-11-17", "--until", "2026-11-16"), "--until 2026-11-16 is before --since"),
        (("--format", "pdf"), "--format 'pdf'"),
        (("--format", "md,html"), "several formats need a folder"),
        (("--lang", "de"), "--lang 'de'"),
        (("--ledger", "nowhere.db"), "nowhere.db: check answers"),
    ],
)
def test_a_report_refuses_what_it_cannot_do(gate: Command, options: tuple[str, ...], said: str) -> None:
    assert said in gate("gate", "report", *options).refused()


def test_a_named_ledger_is_read(gate: Command) -> None:
    (gate.outputs / "ledger.db").rename(gate.folder / "other.db")
    told = gate("gate", "report", "--lang", "en", "--ledger", "other.db").out
    assert "22 answers" in told
    assert "areopage gate report --ledger other.db --lang en" in told


def test_a_report_names_its_ledger_without_the_password() -> None:
    from areopage.cli.options import named_place

    assert named_place(Path("here.yml"), None) == ["--config", "here.yml"]
    (option, place) = named_place(None, "postgresql://anne:secret@db/areopage")
    assert (option, place.endswith("://anne:***@db/areopage")) == ("--ledger", True)


def test_enough_labels_are_certified_and_written_with_their_statement(command: Command) -> None:
    labels = labels_file(command.folder, SAFE, 60)
    ended = command("gate", "tune", "--labels", labels, "--risk", "0.05", "--who", "Anne", "--output", "tuned")
    assert ended.code == 0, ended.err
    assert "At most 5% of the delivered answers are ungrounded, with 95% confidence: certified" in ended.out
    assert "grounded answers held:" in ended.out
    config = load_rules(command.folder / "tuned")
    assert config.thresholds.deliver == config.thresholds.hold
    assert config.tuned["by"] == "Anne"
    assert config.tuned["certified"] is True
    assert config.tuned["labels"]["rows"] == SAFE + 60
    assert len(config.tuned["labels"]["sha256"]) == 64
    assert config.tuned["asked"] == {"risk": 0.05, "of": "delivered", "confidence": 0.95, "seed": 0}
    assert config.grounding == load_rules().grounding


def test_a_written_configuration_is_not_replaced_unasked(command: Command) -> None:
    labels = labels_file(command.folder, 40, 10)
    arguments = ("gate", "tune", "--labels", labels, "--risk", "0.3", "--output", "tuned")
    assert command(*arguments).code == 0
    assert "--force" in command(*arguments).refused()
    assert command(*arguments, "--force").code == 0


def test_too_few_labels_say_how_many_it_takes_and_write_nothing(command: Command) -> None:
    labels = labels_file(command.folder, 20, 5)
    ended = command("gate", "tune", "--labels", labels, "--output", "tuned")
    assert ended.code == 3
    assert "NOT certified" in ended.out
    assert "at least 149 labelled answers (groups) are needed" in ended.out
    assert "no file was written" in ended.err
    assert not (command.folder / "tuned").exists()
    ended = command("gate", "tune", "--labels", labels, "--output", "tuned", "--force-uncertified")
    assert ended.code == 3
    assert load_rules(command.folder / "tuned").tuned["certified"] is False


def test_a_refitted_model_is_written_beside_its_thresholds(command: Command) -> None:
    labels = labels_file(command.folder, 60, 40)
    ended = command("gate", "tune", "--labels", labels, "--risk", "0.25", "--refit", "--output", "tuned")
    assert ended.code == 0, ended.out
    config = load_rules(command.folder / "tuned")
    assert config.grounding is not None
    assert config.grounding.provenance["rows"] == 50
    assert config.tuned["refit"] == {"fitted_rows": 50, "certified_rows": 50}
    assert (command.folder / "tuned" / "grounding.json").exists()


def test_answers_that_the_model_at_hand_was_fitted_on_certify_nothing(command: Command) -> None:
    labels = labels_file(command.folder, 60, 40)
    assert command("gate", "tune", "--labels", labels, "--risk", "0.25", "--refit", "--output", "tuned").code == 0
    ended = command("gate", "tune", "--labels", labels, "--risk", "0.25", "--rules", "tuned")
    assert "50 labelled answers are excluded: the grounding model was fitted on them" in ended.err
    assert " ungrounded); each group counts once: 50" in ended.out


def test_labels_that_the_model_was_fitted_on_alone_are_refused(command: Command) -> None:
    labels = labels_file(command.folder, 60, 40)
    assert command("gate", "tune", "--labels", labels, "--risk", "0.25", "--refit", "--output", "tuned").code == 0
    weights = json.loads((command.folder / "tuned" / "grounding.json").read_text(encoding="utf-8"))
    rows = [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()]
    weights["provenance"] = {FITTED_RESPONSES: [response_digest(row["response"]) for row in rows]}
    (command.folder / "tuned" / "grounding.json").write_text(json.dumps(weights), encoding="utf-8")
    ended = command("gate", "tune", "--labels", labels, "--rules", "tuned")
    assert ended.code == 2
    assert "the grounding model was fitted on these 100 labelled answers" in ended.err


def test_the_same_labels_tune_alike_from_any_file(command: Command) -> None:
    labels = labels_file(command.folder, 30, 20, group="g")
    rows = [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()]
    for number, row in enumerate(rows):
        row["group"] = str(number % 9)
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    table = command.folder / "from excel.csv"
    with table.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream, delimiter=";")
        writer.writerow(["question", "réponse", "documents", "fondé", "groupe"])
        writer.writerows(
            [row["prompt"], row["response"], row["documents"][0], {"yes": "oui", "no": "non"}[row["grounded"]], row["group"]]
            for row in reversed(rows)
        )
    options = ("--of", "average", "--risk", "0.5")
    assert command("gate", "tune", "--labels", table, *options).out == command("gate", "tune", "--labels", labels, *options).out


def test_so_few_labels_that_nothing_is_wrong_promise_neither_success_nor_failure(command: Command) -> None:
    ended = command("gate", "tune", "--labels", labels_file(command.folder, 3, 0))
    assert "too few labels to estimate how many are needed: label a random sample" in ended.out
    assert "no number would do" not in ended.out


def test_labels_without_a_single_ungrounded_answer_are_told(command: Command) -> None:
    ended = command("gate", "tune", "--labels", labels_file(command.folder, 40, 0), "--risk", "0.1")
    assert ended.code == 0
    assert "no labelled answer is ungrounded" in ended.out


def test_labels_of_which_nothing_could_be_delivered_say_so(command: Command) -> None:
    nothing = command("gate", "tune", "--labels", labels_file(command.folder, 0, 40))
    assert nothing.code == 3
    assert "no labelled answer is grounded" in nothing.out
    rows = [{"prompt": f"{n} ?", "response": "Oui.", "documents": [], "grounded": "yes"} for n in range(9)]
    (command.folder / "none.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert "other rules hold all of them: label" in command("gate", "tune", "--labels", "none.jsonl").out


def test_rows_that_cannot_be_used_are_named(command: Command) -> None:
    labels = labels_file(command.folder, 3, 0)
    with labels.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({"prompt": "?", "response": "Oui.", "documents": ["Oui."]}) + "\n")
    ended = command("gate", "tune", "--labels", labels)
    assert "labels.jsonl row 4: skipped: no label" in ended.err
    assert "3 labelled answers" in ended.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--risk", "2"), "--risk 2: give a share between 0 and 1"),
        (("--of", "some"), "--of 'some'"),
        (("--rules", "v1_1"), "the profile v1_1 has no threshold"),
        (("--since", "2026-01-01"), "apply only to --labels ledger"),
        (("--labels", "ledger"), "give either files or ledger"),
    ],
)
def test_tuning_refuses_what_it_cannot_do(command: Command, options: tuple[str, ...], said: str) -> None:
    assert said in command("gate", "tune", "--labels", labels_file(command.folder, 3, 1), *options).refused()


def test_labels_that_favour_what_was_held_back_certify_nothing_about_the_traffic(command: Command) -> None:
    good = [trace(number, prompt=asked(number)) for number in range(1, 101)]
    bad = [trace(number, BAD, prompt=asked(number)) for number in range(101, 111)]
    command.outputs.mkdir()
    filled(command.outputs / "ledger.db", [*good, *bad], [label(one, "no") for one in bad] + [label(good[0], "yes")]).close()
    ended = command("gate", "tune", "--labels", "ledger", "--risk", "0.9", "--output", "tuned")
    assert ended.code == 3
    assert "the labels are not a random sample of the traffic" in ended.err
    assert not (command.folder / "tuned").exists()


def test_labels_of_the_ledger_are_read_with_what_was_recorded(gate: Command) -> None:
    ended = gate("gate", "tune", "--labels", "ledger", "--of", "average", "--risk", "0.5")
    assert "3 labelled answers" in ended.out
    assert "other rules hold 1 of them at any threshold (1 ungrounded)" in ended.out


def test_an_export_of_labelled_answers_tunes_as_the_ledger_does(gate: Command) -> None:
    assert (
        gate("gate", "dataset", "export", "--output", "all.jsonl", "--verdict", "all", "--labelled-only", "--text", "full").code
        == 0
    )
    options = ("--of", "average", "--risk", "0.5")
    assert gate("gate", "tune", "--labels", "all.jsonl", *options).out == gate("gate", "tune", "--labels", "ledger", *options).out


def test_an_export_of_bad_cases_alone_certifies_nothing(gate: Command) -> None:
    assert gate("gate", "dataset", "export", "--output", "bad.jsonl", "--verdict", "human_review", "--labelled-only").code == 0
    ended = gate("gate", "tune", "--labels", "bad.jsonl")
    assert ended.code == 3
    assert "none of them had been delivered" in ended.err


def test_a_replay_lists_what_changes_and_what_it_could_not_decide(gate: Command) -> None:
    ended = gate("gate", "replay", "--rules", "v1_1")
    assert ended.code == 0
    assert "22 answers, 20 replayed" in ended.out
    assert "not replayed, imported without a response: 2" in ended.out
    assert "of 3 labelled answers" in ended.out


def test_a_replay_writes_every_change_as_a_line(gate: Command) -> None:
    (gate.folder / "gate.yml").write_text("thresholds: {deliver: 0.0, hold: 0.0}\n", encoding="utf-8")
    ended: Ended = gate("gate", "replay", "--rules", "gate.yml", "--output", "changes.jsonl", "--fail-on-change")
    assert ended.code == 1
    lines = [json.loads(line) for line in (gate.folder / "changes.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 15
    assert lines[0]["old"]["verdict"] == "deliver"
    assert lines[0]["new"]["verdict"] == "human_review"
    assert lines[0]["question"] == asked(1)
    assert lines[0]["new"]["quotes"] == [GOOD]
    assert {line["better"] for line in lines} == {None, True, False}
    assert "deliver -> human_review: 15" in ended.out


def test_the_same_rules_change_nothing(gate: Command) -> None:
    ended = gate("gate", "replay", "--fail-on-change")
    assert ended.code == 0
    assert "0 verdicts change" in ended.out
    assert gate("gate", "replay", "--against", "default", "--fail-on-change").code == 0


def test_labels_of_a_table_are_read(command: Command) -> None:
    path = command.folder / "labels.csv"
    path.write_text(f'prompt,response,documents,hallucinated\n"{QUESTION}","{GOOD}","{DOCUMENT.text}",false\n', encoding="utf-8")
    assert "1 labelled answer (" in command("gate", "tune", "--labels", path).out


def test_labels_given_with_the_decision_in_sight_certify_nothing(command: Command) -> None:
    answers = [trace(number, prompt=asked(number)) for number in range(1, 4)]
    seen = [structs.replace(label(one, "yes"), blind=False) for one in answers]
    command.outputs.mkdir()
    filled(command.outputs / "ledger.db", answers, [*seen[:2], label(answers[2], "yes")]).close()
    told = "2 labelled with the gate's decision in sight"
    ended = command("gate", "tune", "--labels", "ledger", "--of", "average", "--risk", "0.5")
    assert ("1 labelled answer" in ended.out, told in ended.out + ended.err) == (True, True), ended.out + ended.err
    assert command("gate", "dataset", "export", "--output", "all.jsonl", "--verdict", "all", "--text", "full").code == 0
    exported = command("gate", "tune", "--labels", "all.jsonl", "--of", "average", "--risk", "0.5")
    assert ("1 labelled answer" in exported.out, told in exported.out + exported.err) == (True, True), exported.out + exported.err
