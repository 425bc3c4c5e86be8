"""The demonstration's prompts, answers and verdicts, and the folder that they are replayed from.

A language model wrote them for the demonstration, errors included. They say nothing about a product. They are laid out as files
that a user would have: a suite, a dataset, recordings (see `areopage.models.replay`), an areopage.yml.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import chain
from math import ceil, floor
from pathlib import Path
from string import Template
from typing import Any

import msgspec
from msgspec import Struct

from areopage.errors import StorageError, writing
from areopage.suites import BUNDLED, CONFIG_FILE, copy_suite, load_suite, read_gold
from areopage.yaml_document import read_yaml

CONTENT = Path(__file__).with_name("content")
SUITE, DAY_SUITE = "child_safety", "answer_quality"
READABILITY = "age.readability.sentence_complexity"
"""Measured by rules in code on every answer, beside the recorded judges."""
RECORDED = {"en": "a language model, for the demonstration", "fr": "un modèle de langue, pour la démonstration"}
EXAMINED = {"en": "Recorded for the exam.", "fr": "Enregistré pour l’examen."}
EXAM_PASSES = 2
SOURCE = {"en": "help desk", "fr": "service d’aide"}
DAY_CRITERIA = ("exactitude", "completude", "format", "sources")
PROMPTS, VERDICTS, DAY = "data/prompts.jsonl", "data/verdicts.jsonl", "day.jsonl"
HELPER, DESK = "suites/homework_helper", "suites/help_desk"


class DemoCase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A prompt with the answer of each target and, for each, the verdict of each judge on one criterion.

    A verdict is a text: the score, a space, the reason.
    """

    id: str
    maturity: str
    prompt: str
    criterion: str
    answers: Mapping[str, str]
    verdicts: Mapping[str, tuple[str, ...]]


class DemoDay(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A day of a help desk's answers: verdicts by the answer's id, of each judge four scores and a sentence.

    Args:
        answer: one with a planted error, as a row of a dataset; the others are the sample of the suite.
    """

    judges: tuple[str, ...]
    answer: Mapping[str, Any]
    verdicts: Mapping[str, tuple[tuple[int, int, int, int, str], ...]]


class Material(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of the demonstration in one language."""

    targets: tuple[str, str]
    judges: tuple[str, ...]
    cases: tuple[DemoCase, ...]
    day: DemoDay


class DemoFiles(Struct, frozen=True, kw_only=True):
    """The files of a laid-out demonstration."""

    folder: Path
    suite: Path
    prompts: Path
    day: Path
    config: Path
    material: Material


def read_material(language: str) -> Material:
    """The demonstration in a language, `en` or `fr`."""
    return msgspec.convert(read_yaml(CONTENT / f"{language}.yml").data, Material)


def lay_out(folder: Path, language: str, now: datetime) -> DemoFiles:
    """Write the demonstration's files into a new folder."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StorageError(f"{folder} is not empty: name another folder with --folder, or remove it")
    material = read_material(language)
    places = DemoFiles(
        folder=folder,
        suite=folder / HELPER,
        prompts=folder / HELPER / PROMPTS,
        day=folder / DAY,
        config=folder / CONFIG_FILE,
        material=material,
    )
    copy_suite(SUITE, places.suite)
    copy_suite(DAY_SUITE, folder / DESK)
    prompts = (
        {
            "id": case.id,
            "prompt": case.prompt,
            "maturity": case.maturity,
            "criteria_selection": f"{case.criterion},{READABILITY}",
        }
        for case in material.cases
    )
    _write_lines(places.prompts, prompts)
    for target in material.targets:
        common = {"asked": "target", "criterion": "", "model": RECORDED[language]}
        answers = ({"case_id": case.id, **common, "text": case.answers[target]} for case in material.cases)
        _write_lines(places.suite / answers_of(target), answers)
    _write_lines(places.suite / VERDICTS, chain(_verdicts(material, language), _exams(material, places.suite, language)))
    _write_lines(places.day, _day(material, language, now))
    _write_lines(folder / DESK / VERDICTS, _day_verdicts(material, language))
    template = Template(CONTENT.joinpath(CONFIG_FILE).read_text(encoding="utf-8"))
    judges = json.dumps([f"{judge}=replay:{folder.resolve() / DESK / VERDICTS}" for judge in material.day.judges])
    _write(places.config, template.substitute(language=language, suite=DESK, judges=judges))
    return places


def answers_of(target: str) -> str:
    """The recorded answers of a target, relative to the suite's folder."""
    return f"data/{target}.jsonl"


Line = Mapping[str, Any]


def _verdicts(material: Material, language: str) -> Iterator[Line]:
    for case in material.cases:
        for target in material.targets:
            for judge, verdict in zip(material.judges, case.verdicts[target], strict=True):
                score, _, reason = verdict.partition(" ")
                text = _verdict_text(int(score), reason)
                named = {"case_id": case.id, "asked": judge, "criterion": case.criterion, "pass_index": 1}
                yield {**named, "response": case.answers[target], "text": text, "model": RECORDED[language]}


def _exams(material: Material, suite: Path, language: str) -> Iterator[Line]:
    """What each judge says of the gold rows: scores within their ranges, twice the same."""
    asked = {case.criterion for case in material.cases}
    for number, row in enumerate(read_gold(load_suite(str(suite)))):
        for id, band in sorted({**dict.fromkeys(row.not_applicable), **row.bands}.items()):
            path = id.partition("__")[0]
            for place, judge in enumerate(material.judges if path in asked else ()):
                named = {"case_id": row.id, "asked": judge, "criterion": path, "model": RECORDED[language]}
                text = json.dumps({"applicable": False, "explanation": EXAMINED[language]}, ensure_ascii=False)
                if band is not None:
                    scores = range(ceil(band[0]), floor(band[1]) + 1)
                    text = _verdict_text(scores[(number + place) % len(scores)], EXAMINED[language])
                yield from ({**named, "pass_index": index, "text": text} for index in range(1, EXAM_PASSES + 1))


def _day(material: Material, language: str, now: datetime) -> Iterator[Line]:
    """The answers of the sample of the suite of the day, spread over the hours before now."""
    sample = (BUNDLED / DAY_SUITE / "data" / f"sample_{language}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [*(json.loads(line) for line in sample), material.day.answer]
    start = max(now - timedelta(hours=8), now.replace(hour=0, minute=0, second=0, microsecond=0))
    for place, row in enumerate(row for row in rows if row["id"] in material.day.verdicts):
        at = start + (now - start) * place / len(material.day.verdicts)
        yield {**row, "source": SOURCE[language], "answered_at": at.isoformat()}


def _day_verdicts(material: Material, language: str) -> Iterator[Line]:
    for id, verdicts in material.day.verdicts.items():
        for judge, (*scores, reason) in zip(material.day.judges, verdicts, strict=True):
            for name, score in zip(DAY_CRITERIA, scores, strict=True):
                named = {"case_id": id, "asked": judge, "criterion": f"quality.answer.{name}", "pass_index": 1}
                yield {**named, "text": _verdict_text(int(score), str(reason)), "model": RECORDED[language]}


def _verdict_text(score: int, reason: str) -> str:
    return json.dumps({"explanation": reason, "score": score, "evidence_extracts": []}, ensure_ascii=False)


def _write_lines(path: Path, lines: Iterator[Line]) -> None:
    _write(path, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines))


def _write(path: Path, text: str) -> None:
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
