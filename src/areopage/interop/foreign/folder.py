"""Write the suite of imported test cases: criteria, dataset, recorded scores, exact checks."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from string import Template
from typing import Any, Literal

import msgspec
from msgspec import Struct

from areopage.cases import BadRow, BuildRules, RejectedRow, Row, build_case, clip, plan_columns, read_rows
from areopage.criteria import Scale
from areopage.errors import DatasetError
from areopage.interop.suite_draft import SuiteDraft, equal_weights, filled, suite_languages, yaml_text
from areopage.suites import new_folder

CATEGORY, JUDGED, CHECKS = "imported", "judged", "checks"
CASES, SCORES = "cases.jsonl", "recorded_scores.jsonl"
RECORDED_JUDGE = "recorded"
"""The name of the judge that a recording of scores answers for."""

CriterionKind = Literal["scorer", "rubric", "own_rubric", "reference", "check"]

_TEXTS = Path(__file__).with_name("texts.yml")
_CONFIG = Path(__file__).with_name("config.yml")
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
        rows: of the dataset, by id; each names its criteria.
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

    def rows_of(self, file: Path) -> Iterator[Row]:
        """The rows of a file that can be read; the others are rejected."""
        with closing(read_rows(file)) as rows:
            for row in rows:
                if isinstance(row, BadRow):
                    self.reject(file, row.number, row.reason, row.content)
                else:
                    yield row

    def add(self, row: dict[str, Any], file: Path, number: int) -> str:
        """Take a row that can be a case, else reject it; the id of the case, or ""."""
        kept = filled_cells(row)
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


def filled_cells(cells: Mapping[str, Any]) -> dict[str, Any]:
    """The cells that hold something."""
    return {name: value for name, value in cells.items() if value not in (None, "", [], {})}


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


def write_suite(cases: Foreign, suite: Path, language: str) -> None:
    """Write the suite into a new folder; nothing is written unless all of it can be."""
    draft = SuiteDraft(languages=suite_languages(language))
    if not cases.rows:
        reasons = "; ".join(dict.fromkeys(f"row {row.row}: {row.reason}" for row in cases.rejected[:3]))
        raise DatasetError(f"no case is usable ({len(cases.rejected)} rejected): {reasons or 'the file has none'}")
    if not cases.criteria:
        raise DatasetError("the file has cases and no criterion: judge it with a suite of yours (areopage bench run --dataset)")
    all_texts = msgspec.yaml.decode(_TEXTS.read_bytes(), type=dict[str, _Texts])
    texts = {code: all_texts[code] for code in draft.languages}
    groups: dict[str, list[str]] = {}
    for path, criterion in cases.criteria.items():
        _, group, name = path.split(".")
        groups.setdefault(group, []).append(name)
        shown = clip(criterion.text, 300)
        words = {code: Template(text.kinds[criterion.kind].description) for code, text in texts.items()}
        draft.add(
            path,
            {code: _prompt(criterion, text) for code, text in texts.items()},
            description={code: template.substitute(text=shown) for code, template in words.items()},
        )
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
    with new_folder(suite) as made:
        draft.write(
            made,
            _CONFIG,
            {CASES: cases.rows.values(), SCORES: cases.lines},
            cases.rejected,
            labels={"categories": {CATEGORY: {code: text.category for code, text in texts.items()}}},
            selection="all",
            selected=list(draft.entries),
            kind=cases.kind,
            judges=yaml_text({"judge_system": {"judges": judges, "evaluation": {"n_passes": 1}}}),
            weights=yaml_text({"weights": weights}),
            dataset=CASES,
            rules=yaml_text({"rules": {"checks": {"criteria": cases.checks}}}) if cases.checks else "",
        )


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
