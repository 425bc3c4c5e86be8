"""The failing cases of a run as SARIF 2.1.0, which code scanning shows at the lines of the dataset.

A result is a case that fails a criterion; the rule is the criterion. Its fingerprint is made of the suite, the criterion without
its version, and what is asked: the prompt, the audience and the system prompt. A case that fails again is the same alert in later
runs, for any answer, id or line; another prompt is another alert.
"""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from areopage.bench import FailingScore, RunView, failing_scores, for_people, release_text
from areopage.cases import load_dataset
from areopage.criteria import Criterion
from areopage.digest import digest_of
from areopage.errors import AreopageError, UserError
from areopage.locales import LANGUAGES, Locale, one_line
from areopage.report import replacing, report_locale, verdict_name
from areopage.suites import load_suite
from areopage.version import __version__

MOST_RESULTS = 5_000
"""As many as GitHub shows of one run."""

FINGERPRINT = "areopageCase/v1"
_LINE_HASH = "primaryLocationLineHash"  # the only one that GitHub reads
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LONGEST = 400


class _CasePlace(NamedTuple):
    """The file that a case comes from, and the line in it that it begins on; None where that is not known."""

    path: Path
    line: int | None = None


def write_sarif(view: RunView, path: Path, language: str = "") -> None:
    """Write the file with messages in a language; "" is the run's.

    The texts of criteria are in the run's language; the names and descriptions that the suite gives them in the other one are a
    translation in the file, where the suite is still there.
    """
    view = view.in_language(language)
    log = sarif_log(view, report_locale(language or view.spec.language))
    with replacing(path) as place:
        place.write_bytes(msgspec.json.format(msgspec.json.encode(log), indent=2) + b"\n")


SARIF = for_people("results.sarif", write_sarif)


def sarif_log(view: RunView, locale: Locale) -> dict[str, Any]:
    """The whole log: one run of the tool."""
    numbers = {criterion.id: number for number, criterion in enumerate(view.spec.criteria)}
    places, seen = _case_places(view), dict[str, int]()
    failures = sorted(failing_scores(view), key=lambda failing: not failing.counts_first)
    results = [_result(failing, view, numbers, places, seen, locale) for failing in islice(failures, MOST_RESULTS)]
    left_out = len(failures) - len(results)
    target = view.spec.answered_by or "dataset"
    part = f"{quote(view.spec.part.text, safe='=')}/" if view.spec.part else ""
    invocation: dict[str, Any] = {"executionSuccessful": view.complete}
    if left_out:
        text = locale.count("sarif_left_out", left_out)
        invocation["toolExecutionNotifications"] = [{"level": "warning", "message": {"text": _message(text)}}]
    verdict, rules = verdict_name(view.release.verdict if view.release else None, locale), view.spec.criteria
    driver = {"name": "areopage", "version": __version__, "semanticVersion": __version__}
    run = {
        "tool": {"driver": {**driver, "rules": [_rule(criterion, view, locale) for criterion in rules]}},
        "automationDetails": {"id": f"areopage/{quote(view.spec.suite, safe='')}/{quote(target, safe='')}/{part}"},
        "language": _tag(locale.code),
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": results,
        **({"translations": translations} if (translations := _translations(view)) else {}),
        "properties": {
            "verdict": f"{verdict}. {release_text(view, view.release, locale)}" if view.release else verdict,
            "judges": view.qualification,
            **({"part": msgspec.to_builtins(view.spec.part)} if view.spec.part else {}),
            "run": view.run.id,
            "cases": len(view.cases),
            "coverage": view.coverage.share,
        },
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _translations(view: RunView) -> list[dict[str, Any]]:
    """What the suite calls its criteria in the language that the run is not in."""
    try:
        entries = load_suite(str(view.spec.settings.base_dir)).registry.entries
    except AreopageError:
        return []
    other = next(code for code in LANGUAGES if code != view.spec.language)
    rules: list[dict[str, Any]] = []
    for criterion in view.spec.criteria:
        entry = entries.get(criterion.id)
        texts = {} if entry is None else {"short": entry.label.texts.get(other), "full": entry.description.texts.get(other)}
        named = {f"{key}Description": {"text": _message(one_line(text, 1000))} for key, text in texts.items() if text}
        if named:
            rules.append({"id": criterion.path, **named})
    return [{"name": "areopage", "language": _tag(other), "rules": rules}] if rules else []


def _tag(code: str) -> str:
    """A language's tag with a country, as SARIF wants it."""
    return "en-US" if code == "en" else f"{code}-{code.upper()}"


def _rule(criterion: Criterion, view: RunView, locale: Locale) -> dict[str, Any]:
    level = "error" if criterion.category in view.failures.categories else "warning"
    label = criterion.title
    whole = criterion.description or criterion.task or label
    guide = locale.say("sarif_help", criterion=one_line(label), guide=one_line(criterion.scoring_guide, 1500))
    return {
        "id": criterion.path,
        "name": "".join(part.capitalize() for part in criterion.name.split("_")),
        "shortDescription": {"text": _message(one_line(label))},
        "fullDescription": {"text": _message(one_line(whole, 1000))},
        "help": {"text": _message(guide)},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": [criterion.category, criterion.subcategory], "version": criterion.version},
    }


def _result(
    failing: FailingScore,
    view: RunView,
    numbers: Mapping[str, int],
    places: Mapping[str, _CasePlace],
    seen: dict[str, int],
    locale: Locale,
) -> dict[str, Any]:
    case, criterion, scale = failing.case, failing.criterion, view.spec.scale
    # what a failing case is known by in all runs
    fingerprint = digest_of([view.spec.suite, criterion.path, case.prompt, case.maturity, case.system])
    seen[fingerprint] = seen.get(fingerprint, 0) + 1
    score, limit = locale.number(failing.score), locale.short(failing.limit)
    sentences = [
        locale.say("sarif_failing", criterion=criterion.title, score=score, max=locale.short(scale.max), limit=limit),
        locale.say("sarif_prompt", text=one_line(case.prompt_text, _LONGEST)),
        locale.say("sarif_response", text=one_line(case.response or "", _LONGEST)),
    ]
    if failing.explanation:
        sentences.append(locale.say("pair", name=failing.judge, value=one_line(failing.explanation, _LONGEST)))
    if failing.disputed:
        sentences.append(locale.say("sarif_disputed"))
    place = places.get(case.id)  # the dataset alone where the line is not known
    path = place.path if place else Path(view.spec.datasets[0] if view.spec.datasets else "dataset")
    whole, here = path.resolve(), Path.cwd().resolve()
    # of a file elsewhere only its name, so that no path of a machine is told
    uri = quote(whole.relative_to(here).as_posix() if whole.is_relative_to(here) else path.name)
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}}
    if place and place.line:
        physical["region"] = {"startLine": place.line}
    logical = {"name": one_line(case.id), "kind": "object"}
    return {
        "ruleId": criterion.path,
        "ruleIndex": numbers[criterion.id],
        "kind": "fail",
        "level": "error" if failing.counts_first and not failing.disputed else "warning",
        "message": {"text": _message(" ".join(sentences))},
        "locations": [{"physicalLocation": physical, "logicalLocations": [logical]}],
        "partialFingerprints": {
            FINGERPRINT: f"{fingerprint}:{seen[fingerprint]}",
            _LINE_HASH: f"{fingerprint[:16]}:{seen[fingerprint]}",
        },
        "properties": {"case": one_line(case.id), "score": failing.score, "limit": failing.limit, "disputed": failing.disputed},
    }


def _case_places(view: RunView) -> Mapping[str, _CasePlace]:
    """Where the cases of a run are in its datasets, by their ids, as far as the files are still there and say the same."""
    paths = [Path(name) for name in view.spec.datasets]
    try:
        dataset = load_dataset(paths, default_maturity=view.spec.default_maturity if view.spec.personas else "")
    except UserError:
        return {}
    prompts = {case.id: case.prompt for case in dataset.cases}
    return {
        item.case.id: _CasePlace(Path(dataset.places[item.case.id][0]), dataset.lines.get(item.case.id))
        for item in view.items
        if prompts.get(item.case.id) == item.case.prompt
    }


def _message(text: str) -> str:
    """A text as a plain message of SARIF: braces are doubled, since they mark placeholders, and brackets make no links."""
    escaped = text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return escaped.replace("{", "{{").replace("}", "}}")
