"""The names that a program may import from `areopage`."""

import asyncio
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import areopage
from areopage.cases.records import Document
from servers import PATIENCE

REFERENCE = Path(__file__).parent.parent / "docs" / "reference" / "python.md"
PROMPT, RESPONSE = "Quel est le préavis ?", "Le préavis est de trois mois."
DOCUMENTS = [Document(id="d", text="Le préavis d’un cadre est de trois mois.", score=0.9)]


@pytest.mark.parametrize("name", areopage.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(areopage, name)


PACKAGES = sorted(file.parent.name for file in Path(areopage.__file__).parent.glob("*/__init__.pyi"))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_that_a_package_lists_exists(package: str) -> None:
    front = import_module(f"areopage.{package}")
    assert front.__all__
    assert [name for name in front.__all__ if getattr(front, name, None) is None] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = getattr(areopage, "nothing")  # noqa: B009


def test_importing_the_package_imports_nothing_else() -> None:
    script = "import sys, areopage; print([name for name in sys.modules if name.startswith('areopage.')])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert run.stdout == "[]\n"


def test_every_public_name_is_in_the_reference() -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    assert [name for name in areopage.__all__ if f"`{name}" not in text] == []


def test_an_answer_is_evaluated_in_one_call() -> None:
    found = asyncio.run(areopage.evaluate(PROMPT, RESPONSE, DOCUMENTS, judges=["rules:answer_quality"]))
    assert found.score_global is not None


def test_a_benchmark_is_run_in_one_call_and_found_complete_by_the_next(tmp_path: Path) -> None:
    dataset = tmp_path / "answers.jsonl"
    row = {"id": "one", "prompt": PROMPT, "response": RESPONSE, "documents": [DOCUMENTS[0].text]}
    dataset.write_text(json.dumps(row) + "\n", encoding="utf-8")
    wishes: dict[str, Any] = {"datasets": (dataset,), "judges": ("rules:answer_quality",)}
    view = areopage.run_benchmark("answer_quality", out=tmp_path / "runs", **wishes)
    assert view.complete
    assert len(view.scores.records) == 1
    with areopage.Ledger.open(tmp_path / "runs" / "ledger.db") as ledger:
        assert [run.id for run in ledger.runs()] == [view.run.id]


def test_a_benchmark_inside_an_event_loop_is_refused_with_what_works(tmp_path: Path) -> None:
    dataset = tmp_path / "answers.jsonl"
    dataset.write_text(json.dumps({"id": "one", "prompt": PROMPT, "response": RESPONSE}) + "\n", encoding="utf-8")
    wishes: dict[str, Any] = {"datasets": (dataset,), "judges": ("rules:answer_quality",), "out": tmp_path / "runs"}

    async def notebook() -> areopage.RunView:
        with pytest.raises(areopage.UserError, match=r"write `await asyncio\.to_thread\(areopage\.run_benchmark, \.\.\.\)`"):
            areopage.run_benchmark("answer_quality", **wishes)
        assert not (tmp_path / "runs").exists()
        return await asyncio.to_thread(areopage.run_benchmark, "answer_quality", **wishes)

    assert asyncio.run(notebook()).complete
