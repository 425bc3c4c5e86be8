"""Write the suite of imported test cases: criteria, dataset, recorded scores, exact checks."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, Literal

import msgspec
from msgspec import Struct

from areopage.cases import BuildRules, RejectedRow, Row, build_case, clip, plan_columns, write_rejected
from areopage.criteria import Scale
from areopage.errors import DatasetError, UserError
from areopage.locales import LANGUAGES
from areopage.suites import SuiteConfig, equal_weights, filled, new_folder, write_lines, write_text, yaml_text

CATEGORY, JUDGED, CHECKS = "imported", "judged", "checks"
CASES, SCORES, REJECTED = "cases.jsonl", "recorded_scores.jsonl", "rejected.csv"
RECORDED_JUDGE = "recorded"
"""The name of the judge that a recording of scores answers for."""

CriterionKind = Literal["scorer", "rubric", "own_rubric", "reference", "check"]

_TEXTS = Path(__file__).with_name("texts.yml")
_CONFIG = Path(__file__).with_name("config.yml")
_VERSION, _SELECTION = "__v1_0", "all"
_NO_NAME = re.compile(r"[^a-z0-9]+")
_RULES = BuildRules(default_maturity="")
_MODELS = {"qwen3_8b": "qwen3:8b", "phi4_14b": "phi4:14b"}


class ForeignCriterion(Struct, frozen=True, kw_only=True):
    """A criterion to write: its kind, and the text that its words name (of the file, hence untrusted)."""

    kind: CriterionKind
    text: str = ""
    scale: Scale = Scale(min=0, max=1)


class Foreign(Struct, kw_only=True):
    """What was read of another tool's files.

    Args:
        kind: the tool.
        rows: of the dataset, by id; each names its criteria.
        criteria: by path.
        lines: of the recording of scores.
        checks: exact checks by criterion, then by the digest of the prompt.
        left_out: what has no counterpart here, and how often it stands in the files.
    """

    kind: str
    rows: dict[str, dict[str, Any]] = {}
    criteria: dict[str, ForeignCriterion] = {}
    lines: list[dict[str, Any]] = []
    checks: dict[str, dict[str, list[dict[str, Any]]]] = {}
    rejected: list[RejectedRow] = []
    left_out: Counter[str] = msgspec.field(default_factory=Counter)

    def add(self, row: dict[str, Any], file: Path, number: int) -> str:
        """Take a row that can be a case, else reject it; the id of the case, or ""."""
        kept = {name: value for name, value in row.items() if value not in (None, "", [], {})}
        try:
            built = build_case(Row(number, tuple(kept), tuple(kept.values())), plan_columns(tuple(kept)), file, _RULES)
            if built.case.id in self.rows:
                named = f"the id {clip(built.case.id, 80)!r} is taken by" if "id" in kept else "it is the same as"
                raise ValueError(f"{named} an earlier row")
        except (ValueError, DatasetError) as fault:
            self.reject(file, number, str(fault), clip(msgspec.json.encode(kept).decode("utf-8", "replace")))
            return ""
        self.rows[built.case.id] = {**kept, "id": built.case.id}
        return built.case.id

    def reject(self, file: Path, number: int, reason: str, content: str = "") -> None:
        """Note a row that cannot be used."""
        self.rejected.append(RejectedRow(file=str(file), row=number, reason=reason, content=content))


class _Kind(Struct, frozen=True):
    description: str
    task: str
    guide: tuple[str, str]


class _Texts(Struct, frozen=True):
    category: str
    role: str
    material: str
    output_format: str
    kinds: dict[CriterionKind, _Kind]


def path_of(group: str, name: str, taken: Mapping[str, Any]) -> str:
    """A free path of a criterion, of a name in another tool's words."""
    stem = _NO_NAME.sub("_", name.lower()).strip("_")[:40].strip("_") or "unnamed"
    stem = stem if stem[0].isalpha() else f"n_{stem}"
    path, number = f"{CATEGORY}.{group}.{stem}", 1
    while path in taken:
        number += 1
        path = f"{CATEGORY}.{group}.{stem}_{number}"
    return path


def write_suite(found: Foreign, suite: Path, language: str) -> None:
    """Write the suite into a new folder; nothing is written unless all of it can be."""
    if language not in LANGUAGES:
        raise UserError(f"the languages are {' and '.join(LANGUAGES)}, not {language!r}")
    if not found.rows:
        told = "; ".join(dict.fromkeys(f"row {one.row}: {one.reason}" for one in found.rejected[:3]))
        raise DatasetError(f"no case is usable ({len(found.rejected)} rejected): {told or 'the file has none'}")
    if not found.criteria:
        raise DatasetError("the file has cases and no criterion: judge it with a suite of yours (areopage bench run --dataset)")
    languages = (language, *(one for one in LANGUAGES if one != language))
    texts = msgspec.yaml.decode(_TEXTS.read_bytes(), type=dict[str, _Texts])
    with new_folder(suite) as made:
        made.mkdir()
        (made / "data").mkdir()
        paths = SuiteConfig().criteria
        for path, criterion in found.criteria.items():
            _, group, name = path.split(".")
            for one in languages:
                suffix = "" if one == language else f".{one}"
                file = made / paths.base_path / CATEGORY / group / f"{name}{_VERSION}{suffix}.prompt"
                write_text(file, yaml_text(_prompt(criterion, texts[one])))
        write_text(made / paths.registry_file, yaml_text(_registry(found, {one: texts[one] for one in languages})))
        write_text(made / "config.yml", _config(found, suite.name, languages))
        write_lines(made / "data" / CASES, found.rows.values())
        if found.lines:
            write_lines(made / "data" / SCORES, found.lines)
        if found.rejected:
            write_rejected(found.rejected, made / REJECTED)


def _prompt(criterion: ForeignCriterion, texts: _Texts) -> dict[str, Any]:
    words, scale = texts.kinds[criterion.kind], criterion.scale
    low, high = (f"{score:g} - {text}\n" for score, text in zip((scale.min, scale.max), words.guide, strict=True))
    return {
        "role": texts.role,
        "task": f"{filled(words.task, text=criterion.text)}\n{texts.material}\n",
        "scale": {"min": scale.min, "max": scale.max, "higher_is_better": True},
        "scoring_guide": low + high,
        "output_format": texts.output_format,
    }


def _registry(found: Foreign, texts: Mapping[str, _Texts]) -> dict[str, Any]:
    entries = {}
    for path, criterion in found.criteria.items():
        category, group, name = path.split(".")
        words = {one: text.kinds[criterion.kind].description for one, text in texts.items()}
        entries[path + _VERSION] = {
            "version": "1.0",
            "category": category,
            "subcategory": group,
            "name": name,
            "description": {one: Template(text).substitute(text=clip(criterion.text, 300)) for one, text in words.items()},
            "file": f"{category}/{group}/{name}{_VERSION}.prompt",
        }
    labels = {"categories": {CATEGORY: {one: text.category for one, text in texts.items()}}}
    return {"labels": labels, "criteria": entries, "presets": {_SELECTION: {"criteria": list(entries)}}}


def _config(found: Foreign, name: str, languages: Sequence[str]) -> str:
    groups: dict[str, list[str]] = {}
    for path in found.criteria:
        _, group, criterion = path.split(".")
        groups.setdefault(group, []).append(criterion)
    weights = {
        "categories": {CATEGORY: 1.0},
        "subcategories": {CATEGORY: equal_weights(list(groups))},
        "criteria": {f"{CATEGORY}.{group}": equal_weights(names) for group, names in groups.items()},
    }
    judges: dict[str, Any] = {}
    if JUDGED in groups:
        judges |= {key: {"model": model, "criteria": [f"{CATEGORY}.{JUDGED}"]} for key, model in _MODELS.items()}
    if CHECKS in groups:
        judges["checks"] = {"provider": "rules", "model": "checks", "criteria": [f"{CATEGORY}.{CHECKS}"]}
    rules = {"rules": {"checks": {"criteria": found.checks}}} if found.checks else {}
    return Template(_CONFIG.read_text(encoding="utf-8")).substitute(
        kind=found.kind,
        name=msgspec.json.encode(name).decode(),
        languages=", ".join(languages),
        selection=_SELECTION,
        judges=yaml_text({"judge_system": {"judges": judges, "evaluation": {"n_passes": 1}}}),
        weights=yaml_text({"weights": weights}),
        dataset=CASES,
        rules=yaml_text(rules) if rules else "",
    )
