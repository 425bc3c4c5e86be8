"""Scenarios and recorded conversations as rows of datasets, and recorded grades as the lines of a recording."""

import re
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from areopage.cases import MATURITIES, MAX_TURNS, BuildRules, ChildPlan, RejectedRow, Row, build_case, plan_columns
from areopage.interop.kora.source import (
    GRADES,
    SAFETY,
    SEXUAL,
    Conversation,
    FoundRow,
    KoraFolder,
    KoraGrade,
    Risk,
    Scenario,
    plain_name,
)

TURNS = 3
"""The turns of a child where neither the user nor the taxonomy says how many."""

MECHANISMS, CONVERSATION = "mechanisms", "conversation"
"""The category and the sub-category of the criteria on mechanisms."""

# A simulated child never writes sexual or romantic text: a scenario that turns on it is tagged, under any name of its risk.
_SEXUAL_WORDS = re.compile(
    r"\b(?:sex|sexual|sexually|sexy|sext\w*|nudes?|naked|porn\w*|flirt\w*|romantic|romantically|seduc\w*)\b", re.IGNORECASE
)
_PLANS: Mapping[str, ChildPlan] = {"insists": "steady", "works_around": "escalate", "drops": "relent"}
_NO_WORD = re.compile(r"[^a-z0-9]+")
_ROWS = BuildRules(default_maturity=MATURITIES[0])


class ImportedCases(Struct, kw_only=True):
    """The rows of both datasets by their ids, the lines of the recording, and what they are of.

    Args:
        risks: those of the rows, by category and id.
        unnamed: the ids of the risks that the taxonomy does not have.
        mechanisms: the recorded ones, by their ids in the suite, and whether one was recorded as not triggered.
        ungraded: how many conversations have no recorded grade.
    """

    scenarios: dict[str, dict[str, Any]] = {}
    recorded: dict[str, dict[str, Any]] = {}
    lines: list[dict[str, Any]] = []
    risks: dict[tuple[str, str], Risk] = {}
    unnamed: dict[str, None] = {}
    mechanisms: dict[str, bool] = {}
    rejected: list[RejectedRow] = []
    ungraded: list[str] = []
    files: tuple[Path, ...] = ()


def imported_cases(folder: KoraFolder, turns: int | None, script: tuple[str, ...], memory: Template) -> ImportedCases:
    """Make the rows of a suite's datasets; what the loader of datasets would refuse is rejected with its reason.

    `memory` is the system prompt that tells the assistant what it remembers of the child, with the placeholder $text.
    """
    cases = ImportedCases(rejected=list(folder.rejected), files=folder.files)
    for row in folder.rows:
        content = row.content
        seed = content.seed if isinstance(content, Scenario) else content.scenario.seed
        # the risk in the row's own category, by the name that the taxonomy gives it
        category = seed.risk_category_id
        names = {risk.category: risk.category_name for risk in folder.risks.values()}
        bare = Risk(id=seed.risk_id, category=category, name=plain_name(seed.risk_id), category_name="")
        risk = replace(
            folder.risks.get(seed.risk_id, bare), category=category, category_name=names.get(category, plain_name(category))
        )
        rows = cases.scenarios if isinstance(content, Scenario) else cases.recorded
        try:
            made = _row_of(content, row, risk, memory)
            if isinstance(content, Scenario):
                made["child"] = _child(content, turns or risk.turns or TURNS, script)
            if made["id"] in rows:
                raise ValueError(f"the id {made['id']!r} is taken by an earlier row")
            build_case(Row(row.number, tuple(made), tuple(made.values())), plan_columns(tuple(made)), row.file, _ROWS)
        except ValueError as fault:
            cases.rejected.append(row.rejected(str(fault)))
            continue
        rows[made["id"]] = made
        cases.risks.setdefault((risk.category, risk.id), risk)
        if risk.id not in folder.risks:
            cases.unnamed[risk.id] = None
        if isinstance(content, Conversation):
            _add_grades(cases, content, made["id"])
    cases.rejected.sort(key=lambda row: (row.file, row.row))
    return cases


def _row_of(content: Scenario | Conversation, row: FoundRow, risk: Risk, memory: Template) -> dict[str, Any]:
    """The row of a dataset, without the child of a scenario."""
    scenario = content if isinstance(content, Scenario) else content.scenario
    remembered = (scenario.model_memory or "").strip()
    tags = _tags(scenario, risk)
    if isinstance(content, Conversation) and (variant := _slug(content.prompt)):
        tags.append(f"prompt_{variant}")
    made: dict[str, Any] = {
        "category": risk.category,
        "subcategory": risk.id,
        "maturity": scenario.seed.maturity,
        "tags": tags,
        "criteria": f"{risk.path}, {MECHANISMS}",
        "reference": scenario.evaluation_criteria,
        "system": memory.substitute(text=remembered) if remembered else "",
    }
    if isinstance(content, Scenario):
        if not content.first_user_message.strip():
            raise ValueError("firstUserMessage is missing or empty")
        return {"id": content.seed.id, "source": row.file.stem, "prompt": content.first_user_message, **made}
    system, prompt, response = _parted(content)
    source = content.model_id.strip() or row.file.stem
    first = {"id": content.case_id, "source": source}
    return {**first, "prompt": prompt, "response": response, **made, "system": system or made["system"]}


def _child(scenario: Scenario, wanted: int, script: tuple[str, ...]) -> dict[str, Any]:
    """The simulated child: what the scenario says of it, and the plan of its follow-ups.

    The plan is the recorded reaction to refusals; where there is none, a direct wish is pressed and any other is kept to.
    """
    seed = scenario.seed
    plan = _PLANS.get(seed.refusal_behavior, "escalate" if seed.risk_signal_type == "direct" else "steady")
    turns = min(max(wanted, 1), MAX_TURNS)
    motivation = ": ".join(part for part in (seed.motivation.name, seed.motivation.description) if part)
    return {
        "turns": turns,
        "script": script[: turns - 1],
        "plan": plan,
        "age": "" if seed.child_age is None else f"{seed.child_age:g}",
        "gender": seed.child_gender,
        "maturity": scenario.child_maturity,
        "background": scenario.child_background,
        "motivation": motivation,
        "behaviour": seed.core_behavior,
        "situation": scenario.narrative or seed.context,
    }


def _parted(conversation: Conversation) -> tuple[str, list[dict[str, str]], str]:
    messages = conversation.messages
    system = messages[0].content if messages and messages[0].role == "system" else ""
    turns = messages[1:] if messages and messages[0].role == "system" else messages
    for number, turn in enumerate(turns):
        if turn.role != ("assistant" if number % 2 else "user"):
            raise ValueError(f"messages: turn {number + 1} is of the {turn.role}: a user and an assistant must take turns")
        if not turn.content.strip():
            raise ValueError(f"messages: turn {number + 1}, of the {turn.role}, is empty")
    if not turns or turns[-1].role != "assistant":
        raise ValueError("messages: the last one must be the assistant's")
    return system, [{"role": turn.role, "content": turn.content} for turn in turns[:-1]], turns[-1].content


def _tags(scenario: Scenario, risk: Risk) -> list[str]:
    """Words to choose cases by: of the risk, of the child's age range, of the signal, the company and the motive."""
    seed = scenario.seed
    texts = (seed.core_behavior, seed.context, scenario.short_title, scenario.narrative, scenario.first_user_message)
    words = [SEXUAL] if any(_SEXUAL_WORDS.search(text) for text in texts) else []
    ages = f"age_{_slug(seed.age_range)}" if _slug(seed.age_range) else ""
    others = map(_slug, (seed.risk_signal_type, seed.social_context, seed.motivation.name, seed.scenario_flavor_id))
    return [tag for tag in dict.fromkeys([*risk.tags, *words, ages, *others]) if tag]


def _add_grades(cases: ImportedCases, conversation: Conversation, case_id: str) -> None:
    seed = conversation.scenario.seed
    if conversation.assessment is None:
        cases.ungraded.append(case_id)
    else:
        path = f"{SAFETY}.{seed.risk_category_id}.{seed.risk_id}"
        cases.lines.append({"case_id": case_id, "criterion": path, **_outcome(conversation.assessment)})
    for id, grade in conversation.mechanisms.items():
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", id).lower()  # in the form of a criterion's name
        cases.mechanisms[name] = cases.mechanisms.get(name, False) or grade.not_triggered
        cases.lines.append({"case_id": case_id, "criterion": f"{MECHANISMS}.{CONVERSATION}.{name}", **_outcome(grade)})


def _outcome(grade: KoraGrade) -> dict[str, Any]:
    if grade.not_triggered:
        return {"applicable": False, "explanation": grade.reasons}
    counted = f" [{grade.occurrence_count:g} x]" if grade.occurrence_count else ""
    return {"score": GRADES[grade.grade], "explanation": f"{grade.reasons}{counted}"}


def _slug(text: str) -> str:
    return _NO_WORD.sub("_", text.lower()).strip("_")[:60]
