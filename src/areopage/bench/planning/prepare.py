"""Build a run's cases, criteria, jury and target from a suite and user options."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from areopage.bench.conversations.children import turns_without_model
from areopage.bench.options import RunOptions
from areopage.bench.panels import case_clusters, chosen_cases
from areopage.bench.planning.pass_options import asked_suite, batched_judges, joint_remarks, pass_settings, run_judges
from areopage.bench.planning.reassess import StoredAnswers
from areopage.bench.planning.selection import (
    by_reply,
    cases_with_criteria,
    choose_criteria,
    conversations_off,
    not_selected,
    rejected_case,
    usable_criteria,
    with_rules,
)
from areopage.bench.spec import TWIN_OF, ChosenPart, DisplayNames, RunCase, RunSpec, Target
from areopage.bench.target_prompts import PromptMode
from areopage.cases import Case, Dataset, Persona, RejectedRow, field_named, load_dataset, normalise_maturity
from areopage.criteria import Criterion
from areopage.digest import digest_of_list
from areopage.errors import ConfigError, DatasetError, ModelError, counted, name_list
from areopage.jury import Judge, answers_no_prompts
from areopage.locales import Note
from areopage.models import ModelReference, known_price
from areopage.scoring import Profile
from areopage.suites import Suite, choose_language, is_unknown_key, misspelt_weights

_Priced = TypeVar("_Priced", Judge, Target)


class PreparedRun(Struct, frozen=True, kw_only=True):
    """A run before its first model call."""

    spec: RunSpec
    cases: tuple[RunCase, ...]
    rejected: tuple[RejectedRow, ...]


class _SelectedCases(Struct, frozen=True, kw_only=True):
    """The cases of a run, with their criteria; and remarks on how they were chosen, and on the criteria."""

    cases: tuple[RunCase, ...]
    criteria: tuple[Criterion, ...]
    part: ChosenPart | None
    lost: Mapping[str, int]
    maturity_defaulted: int
    rejected: tuple[RejectedRow, ...]
    case_remarks: tuple[Note, ...]
    criteria_remarks: tuple[Note, ...]


def prepare_run(suite: Suite, options: RunOptions) -> PreparedRun:
    """Build a run from the user's options."""
    if misspelt := misspelt_weights(suite):
        raise misspelt[0]
    suite = asked_suite(suite, options)
    config, language = suite.config, choose_language(suite, options.language)
    selected = _selected_cases(suite, options, language)
    cases = selected.cases
    mode = options.mode or config.execution.test_mode
    if not getattr(config.test_modes, mode).enabled:
        raise ConfigError(f"the mode {mode} is not enabled", path=suite.document.path, key=f"test_modes.{mode}.enabled")
    to_answer = sum(item.case.response is None and not item.answer_id for item in cases)
    target, child = choose_target(suite, options.target, mode), choose_child(suite, options.child)
    target_remarks = list(_target_remarks(options, [item.case for item in cases], target, child, to_answer))
    case_clusters([item.case for item in cases], config.scoring.cluster)  # refuses a column that no case has
    spec, pass_remarks = _run_spec(suite, options, language, mode, selected)
    spec = replace(
        spec,
        target=target if to_answer else None,
        child=child if to_answer and any(item.case.child is not None for item in cases) else None,
        remarks=(
            *(Note("config_key", {"told": warning}) for warning in suite.warnings if is_unknown_key(warning)),
            *(Note("registry_fault", {"told": str(fault)}) for fault in suite.registry.faults),
            *selected.case_remarks,
            *target_remarks,
            *pass_remarks,
            *selected.criteria_remarks,
        ),
    )
    return PreparedRun(spec=_with_prices(spec, suite), cases=cases, rejected=selected.rejected)


def _selected_cases(suite: Suite, options: RunOptions, language: str) -> _SelectedCases:
    """Read the dataset, choose cases, and select the criteria of each."""
    config, stored = suite.config, options.stored_answers
    limit = config.execution.test_prompts_limit if options.limit is None else options.limit
    if limit == 0 or limit < -1:
        raise DatasetError(f"--limit {limit}: give a number from 1 on, or -1 for all cases")
    most = None if limit == -1 else limit
    dataset, part = _chosen_dataset(suite, options, language, most)
    remarks = [Note("first_cases", {"n": most})] if options.limit is None and most is not None else []
    selection = config.criteria.default_selection if options.criteria is None else options.criteria
    chosen, rejected = choose_criteria(suite, dataset, selection, override=options.criteria is not None)
    if options.criteria is None and (outside := not_selected(suite, selection, chosen)):
        remarks.append(Note("not_selected", {"selection": selection, "criteria": tuple(outside)}))
    criteria, notes = usable_criteria(suite, chosen, language)
    cases, lost, without_criteria = cases_with_criteria(chosen, criteria, dataset)
    is_whole = most is None and part is None and not options.datasets and stored is None
    cases, ruled_out = with_rules(cases, suite.registry, whole=is_whole)
    if stored is not None:
        cases = tuple(replace(item, answer_id=stored.ids[item.case.id]) for item in cases)
        remarks += _reassessed_remarks(stored)
    all_rejected = (*dataset.rejected, *rejected, *without_criteria)
    return _SelectedCases(
        cases=cases,
        criteria=by_reply(criteria, suite.release_floors(), cases),
        part=part,
        lost=lost,
        maturity_defaulted=dataset.maturity_defaulted,
        rejected=all_rejected,
        case_remarks=tuple(remarks),
        criteria_remarks=(*notes, *ruled_out, *_dataset_remarks(dataset, all_rejected, config.validation.default_maturity)),
    )


def _reassessed_remarks(stored: StoredAnswers) -> Iterator[Note]:
    run, target = stored.source.run, stored.source.target
    yield Note("reassessed_target", {"run": run, "target": target}) if target else Note("reassessed", {"run": run})
    if stored.erased:
        yield Note("erased_answers", {"n": len(stored.erased), "cases": stored.erased})


def _with_prices(spec: RunSpec, suite: Suite) -> RunSpec:
    """The specification with the price of every model whose price is known; see `known_price`."""
    settings = spec.settings.with_environment()
    configured = {name: section.price() for name, section in suite.shared.prices.items()}
    stated = {name: price for name, price in configured.items() if price is not None}

    def with_price(model: _Priced) -> _Priced:
        return replace(model, price=known_price(model.price, model.reference, stated, settings))

    return replace(
        spec,
        judges=tuple(with_price(judge) if judge.is_model else judge for judge in spec.judges),
        target=with_price(spec.target) if spec.target is not None else None,
        child=with_price(spec.child) if spec.child is not None else None,
    )


def _target_remarks(
    options: RunOptions, cases: Sequence[Case], target: Target | None, child: Target | None, to_answer: int
) -> Iterator[Note]:
    if options.responses_only and to_answer:
        raise DatasetError(
            f"{to_answer} of {counted(len(cases), 'case')} without a response, and no target is asked: see areopage bench run"
        )
    if target is None and to_answer:
        raise ModelError("some cases have no response and no target is named: give --target, or a model under `models`")
    if options.target is not None and not to_answer:
        yield Note("target_not_asked", {"target": options.target})
    if 0 < to_answer < len(cases):
        yield Note("two_sources_of_answers", {"given": len(cases) - to_answer, "asked": to_answer})
    if target is not None and child is None:  # a conversation ends after its script, since no model goes on
        short = tuple(case.id for case in cases if case.child is not None and turns_without_model(case) < case.child.turns)
        if short:
            yield Note("short_scripts", {"n": len(short), "cases": short})


def _run_spec(
    suite: Suite, options: RunOptions, language: str, mode: PromptMode, selected: _SelectedCases
) -> tuple[RunSpec, list[Note]]:
    """The specification without target, child and remarks; and remarks on how judges are asked."""
    config, stored = suite.config, options.stored_answers
    evaluation = config.judge_system.evaluation
    profile = Profile.named(options.profile or config.scoring.profile)
    concurrency = options.concurrency or config.execution.concurrency
    judges, remarks = run_judges(suite, options.judges)
    spec = RunSpec(
        suite=suite.name,
        suite_version=config.project.version,
        language=language,
        languages=tuple(config.languages),
        mode=mode,
        target=None,
        judges=judges,
        batch=batched_judges(suite, judges, wanted=options.batch),
        joint=evaluation.joint,
        adaptive=pass_settings(suite),
        criteria=selected.criteria,
        personas=suite.personas(language),
        labels=_labels_of(suite, language),
        scale=suite.scale,
        weights=suite.weights,
        profile=profile.with_quorum(evaluation.quorum),
        quorum=evaluation.quorum,
        salt=options.salt,
        reuse_answers=options.reuse_answers,
        settings=suite.model_settings(language, concurrency).with_timeout(options.timeout).allowing(options.allowed_variables),
        concurrency=concurrency,
        outage_seconds=config.execution.outage_seconds,
        failures=suite.failure_rules(),
        release=suite.release_floors(),
        cluster=config.scoring.cluster,
        twin_tag=config.scoring.over_refusal.tag,
        min_coverage=config.execution.min_coverage if options.min_coverage is None else options.min_coverage,
        variance_threshold=config.judge_system.consistency.variance_threshold,
        agreement_threshold=config.judge_system.consistency.agreement_threshold,
        datasets=tuple(map(_storable, options.datasets or suite.datasets(language))) if stored is None else stored.datasets,
        dataset_digest=digest_of_list(selected.cases),
        part=selected.part,
        lost=selected.lost,
        conversations_off=conversations_off(suite, selected.cases),
        reassessed=stored.source if stored is not None else None,
        maturity_defaulted=selected.maturity_defaulted,
        default_maturity=config.validation.default_maturity,
        max_response_length=config.validation.max_response_length,
        idle=tuple(warning for warning in suite.warnings if not is_unknown_key(warning)),
        remarks=(),
        log_level=config.logging.level,
    )
    return spec, [*remarks, *joint_remarks(suite, spec)]


def _storable(path: Path) -> str:
    """A path as storable text; invalid UTF-8 bytes become U+FFFD."""
    return str(path).encode("utf-8", "replace").decode()


def _chosen_dataset(suite: Suite, options: RunOptions, language: str, limit: int | None) -> tuple[Dataset, ChosenPart | None]:
    """The cases that are chosen, with readers whom the suite describes, and what the user sets for all of them."""
    most = None if options.conditions else limit  # where cases are chosen, the limit is one of those
    if options.stored_answers is None:
        dataset = _read_dataset(suite, language, options.datasets, most)
    else:
        dataset = _stored_dataset(suite, language, options.stored_answers, most)
    chosen, part = chosen_cases(dataset.cases, options.conditions)
    dataset = _with_known_readers(replace(dataset, cases=chosen[:limit]), suite.personas(language))
    return _with_answers_from(_with_children(dataset, suite, options.turns), options), part


def _read_dataset(suite: Suite, language: str, files: Sequence[Path], limit: int | None) -> Dataset:
    paths = tuple(files) or suite.datasets(language)
    if not paths:
        raise DatasetError(f"the suite {suite.name} has no dataset of its own in {language!r}: give --dataset FILE")
    limits, personas = suite.config.validation, suite.personas(language)
    dataset = load_dataset(
        paths,
        default_maturity=limits.default_maturity if personas else "",
        limit=limit,
        max_cases=limits.max_cases,
        max_prompt_length=limits.max_prompt_length,
        max_response_length=limits.max_response_length,
    )
    if not personas and not suite.knows_no_readers:
        _refuse_unread_ages(dataset, suite)
    return dataset


def _stored_dataset(suite: Suite, language: str, stored: StoredAnswers, limit: int | None) -> Dataset:
    """The cases of stored answers; where the suite knows no readers, without their ages."""
    cases = stored.dataset.cases[:limit]
    if not suite.personas(language):
        cases = tuple(replace(case, maturity="") for case in cases)
    return replace(stored.dataset, cases=cases)


def _with_answers_from(dataset: Dataset, options: RunOptions) -> Dataset:
    answered = sum(case.response is not None for case in dataset.cases)
    if options.answers == "target":
        cases = tuple(replace(case, response=None) for case in dataset.cases)
        return replace(dataset, cases=cases)
    if options.target is not None and options.answers is None and answered:
        columns = name_list(map(repr, dataset.response_columns))
        raise DatasetError(
            f"the column {columns} has {answered} answers to {len(dataset.cases)} prompts, and --target names {options.target}: "
            "give --answers target to judge only the target's answers, or --answers dataset to judge these, and the target's to "
            "the other prompts"
        )
    return dataset


def _refuse_unread_ages(dataset: Dataset, suite: Suite) -> None:
    """Check that no column holds ages: without personas no judge would be told them."""

    def is_age(value: object) -> bool:
        with suppress(ValueError):
            return normalise_maturity(value) is not None
        return False

    for name in dataset.unread_columns:
        if field_named(name) == "maturity" and any(is_age(case.metadata.get(name)) for case in dataset.cases):
            wanted = suite.folder / suite.config.paths.personas_file
            raise DatasetError(
                f"the column {name!r} holds ages of readers, and the suite {suite.name} has no personas: add {wanted}, "
                f'or write paths.personas_file: "" in {suite.document.path} if ages do not matter'
            )


def _with_known_readers(dataset: Dataset, personas: Mapping[str, Persona]) -> Dataset:
    """Reject the cases whose readers the suite does not describe: judges could not be told their age."""
    strangers = [case for case in dataset.cases if case.maturity and case.maturity not in personas]
    if not strangers:
        return dataset
    names = name_list(personas)
    rejected = [rejected_case(case, f"the suite has no persona {case.maturity!r}: it has {names}", dataset) for case in strangers]
    kept = tuple(case for case in dataset.cases if not case.maturity or case.maturity in personas)
    if not kept:
        raise DatasetError(f"no case is left: {rejected[0].reason}")
    return replace(dataset, cases=kept, rejected=(*dataset.rejected, *rejected))


def _labels_of(suite: Suite, language: str) -> DisplayNames:
    """Display names of all criteria of a suite, their categories and sub-categories: a run also names criteria that it lacks."""
    entries = suite.registry.entries.values()
    keys = sorted({key for entry in entries for key in (entry.id, entry.category, f"{entry.category}.{entry.subcategory}")})

    def named(code: str) -> dict[str, str]:
        return {key: suite.registry.label(key, code) for key in keys}

    return DisplayNames(names=named(language), others={code: named(code) for code in suite.config.languages if code != language})


def _dataset_remarks(dataset: Dataset, rejected: Sequence[RejectedRow], default_maturity: str) -> list[Note]:
    remarks: list[Note] = []
    if dataset.maturity_defaulted:
        counts = {"n": dataset.maturity_defaulted, "cases": len(dataset.cases)}
        remarks.append(Note("maturity_defaulted", {**counts, "maturity": default_maturity}))
    if rejected:
        first = min(rejected, key=lambda row: (row.file, row.row))
        place = {"file": first.file, "row": str(first.row), "reason": first.reason}
        remarks.append(Note("rejected_rows", {**place, "n": len(rejected)}))
    if unread := tuple(name for name in dataset.unread_columns if name != TWIN_OF):
        remarks.append(Note("unread_columns", {"columns": unread}))
    return remarks


def choose_target(suite: Suite, wanted: str | None, mode: PromptMode) -> Target | None:
    """Return the named target, else the suite's first enabled model, else None."""
    system_prompt = getattr(suite.config.test_modes, mode).system_prompt
    judge_thinking = suite.config.release is not None and suite.config.release.thoughts == "judged"
    for position, section in enumerate(suite.config.models):
        reference = suite.reference(section.model, section.provider, "models", position, "model")
        if (wanted is None and section.enabled) or wanted == str(reference):
            return Target(
                reference=_answering(reference),
                options=dict(section.options),
                single_prompt=section.single_prompt,
                judge_thinking=section.judge_thinking or judge_thinking,
                system_prompt=system_prompt,
                price=section.price.price() if section.price else None,
            )
    if wanted is None:
        return None
    return Target(reference=_answering(ModelReference.typed(wanted)), judge_thinking=judge_thinking, system_prompt=system_prompt)


def _answering(reference: ModelReference) -> ModelReference:
    """The reference of a target, whose provider must be one of models."""
    if answers_no_prompts(reference.provider):
        raise ModelError(f"the target {reference} is a judge and answers no prompts: name a model")
    return reference


def _with_children(dataset: Dataset, suite: Suite, turns: int | None) -> Dataset:
    """The dataset with the turns and the plan that the user or the suite sets for every child."""
    section = suite.config.conversations
    changes = {"turns": turns or section.turns, "plan": section.plan}
    settings = {name: value for name, value in changes.items() if value is not None}
    if not settings:
        return dataset
    cases = (case if case.child is None else replace(case, child=replace(case.child, **settings)) for case in dataset.cases)
    return replace(dataset, cases=tuple(cases))


def choose_child(suite: Suite, wanted: str | None) -> Target | None:
    """The model that plays children: the one that the user names, else the suite's, else None.

    The suite's options hold for a model of the user's, too; its price does not.
    """
    section = suite.config.conversations.child
    options = dict(section.options) if section is not None else {}
    if wanted is not None:
        reference, price = ModelReference.typed(wanted), None
    elif section is not None:
        reference = suite.reference(section.model, section.provider, "conversations", "child", "model")
        price = section.price.price() if section.price else None
    else:
        return None
    if reference.provider == "replay" or answers_no_prompts(reference.provider):
        raise ModelError(f"{reference} cannot play a child: name a model")
    return Target(reference=reference, options=options, price=price)
