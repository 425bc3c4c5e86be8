"""A run as JUnit XML: a test case for the release verdict and one for each criterion.

A criterion fails where a floor that is not met names it, and is an error where one that is open does. The file therefore has a
failure or an error exactly where `areopage bench run` ends with 1 or 3. Cases that fail a criterion stand in its output.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from areopage.bench import (
    FailingScore,
    RunView,
    exam_steps,
    failing_scores,
    floor_lines,
    for_people,
    no_release_text,
    release_text,
)
from areopage.criteria import Criterion
from areopage.locales import Locale, one_line
from areopage.report import replacing, report_locale, verdict_name
from areopage.scoring import Release

_SHOWN_CASES = 50
_LONGEST = 300
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(view: RunView, path: Path, language: str = "") -> None:
    """Write the file."""
    view = view.in_language(language)
    tree = ElementTree(junit_element(view, report_locale(language or view.spec.language)))
    indent(tree)
    with replacing(path) as place:
        tree.write(place, encoding="utf-8", xml_declaration=True)


JUNIT = for_people("junit.xml", write_junit)


def junit_element(view: RunView, locale: Locale) -> Element:
    """The root element."""
    release = view.release
    name = f"{view.spec.suite} · {view.spec.answered_by or locale.say('given_responses')}"
    suite = Element("testsuite", name=xml_text(name), timestamp=f"{view.run.created_at:%Y-%m-%dT%H:%M:%S}", hostname="areopage")
    properties = SubElement(suite, "properties")
    for key, value in _properties(view):
        SubElement(properties, "property", name=key, value=xml_text(value))
    failing: dict[str, list[FailingScore]] = {}
    for score in failing_scores(view):
        failing.setdefault(score.criterion.id, []).append(score)
    title = f"release: {view.spec.part.text}" if view.spec.part else "release"
    verdict = SubElement(suite, "testcase", classname=xml_text(view.spec.suite), name=xml_text(title))
    _verdict_case(verdict, view, release, locale)
    for criterion in view.spec.criteria:
        classname = f"{criterion.category}.{criterion.subcategory}"
        element = SubElement(suite, "testcase", classname=xml_text(classname), name=xml_text(criterion.name), time="0")
        _criterion_case(element, view, criterion, failing.get(criterion.id, ()), release, locale)
    counts = {"tests": "testcase", "failures": "testcase/failure", "errors": "testcase/error", "skipped": "testcase/skipped"}
    totals = {key: f"{len(suite.findall(place))}" for key, place in counts.items()}
    suite.attrib |= {**totals, "time": "0"}
    root = Element("testsuites", {"name": "areopage"} | {key: totals[key] for key in ("tests", "failures", "errors")})
    root.append(suite)
    return root


def xml_text(text: str) -> str:
    """A text without the characters that XML 1.0 cannot hold, which become U+FFFD."""
    return _NOT_XML.sub("\ufffd", text)


def _properties(view: RunView) -> Iterator[tuple[str, str]]:
    tree, interval = view.scores.tree, view.scores.interval
    yield "run", view.run.id
    yield "suite_version", view.spec.suite_version
    yield "cases", f"{len(view.cases)}"
    if view.spec.part is not None:
        yield "part", f"{view.spec.part.text}: {view.spec.part.cases} of {view.spec.part.total} cases"
    yield "coverage", f"{view.coverage.share:.4f}"
    if (release := view.release) is not None:
        yield "release", release.verdict
    yield "judges", view.qualification
    if tree.score is not None:
        yield "score", f"{tree.score:.4f}"
    if interval is not None:
        yield "score_low", f"{interval.low:.4f}"
        yield "score_high", f"{interval.high:.4f}"


def _verdict_case(element: Element, view: RunView, release: Release | None, locale: Locale) -> None:
    element.set("time", "0")
    doubt = view.doubt
    if release is not None and release.verdict == "FAIL":
        _result(element, "failure", release_text(view, release, locale), list(floor_lines(view, release, locale)))
    elif release is not None and doubt == "release":
        _result(element, "error", release_text(view, release, locale), _verdict_lines(view, release, locale))
    elif doubt:
        _result(element, "error", locale.say(f"doubt_{doubt}"), [])
    texts = [f"{verdict_name(None, locale)}. {no_release_text(view, locale)}"]
    if release is not None:
        texts = [
            f"{verdict_name(release.verdict, locale)}. {release_text(view, release, locale)}",
            *_verdict_lines(view, release, locale),
        ]
    SubElement(element, "system-out").text = xml_text("\n".join(texts))


def _verdict_lines(view: RunView, release: Release, locale: Locale) -> list[str]:
    """The floors that are not met, open or accepted, and what to do about missing exams."""
    steps = exam_steps(view, release, locale)
    return [*floor_lines(view, release, locale), *(f"{step.text} {shlex.join(step.command)}".rstrip() for step in steps)]


def _criterion_case(
    element: Element,
    view: RunView,
    criterion: Criterion,
    failing: Sequence[FailingScore],
    release: Release | None,
    locale: Locale,
) -> None:
    count = view.failures.by_criterion[criterion.id]
    failed, scored = locale.whole(count.failed), locale.whole(count.scored)
    text = f"{criterion.title}: {locale.say('junit_failing', failed=failed, scored=scored)}"
    lines = []
    for score in failing[:_SHOWN_CASES]:
        said = f" | {score.judge}: {one_line(score.explanation, _LONGEST)}" if score.explanation else ""
        prompt, response = one_line(score.case.prompt_text, _LONGEST), one_line(score.case.response or "", _LONGEST)
        lines.append(f"{one_line(score.case.id)} | {locale.number(score.score)} | {prompt} | {response}{said}")
    if len(failing) > _SHOWN_CASES:
        lines.append(locale.count("junit_more", len(failing) - _SHOWN_CASES))
    # the worst state of the floors that name the criterion as their reason
    floors = [floor for floor in (release.floors if release else ()) if floor.kind != "qualified_judges"]
    states = {floor.state for floor in floors if criterion.id in floor.criteria} & {"not_met", "open"}
    if states:
        _result(element, "failure" if "not_met" in states else "error", text, lines)
    elif not count.scored:
        SubElement(element, "skipped", message=xml_text(locale.say("junit_unscored")))
    SubElement(element, "system-out").text = xml_text("\n".join([text, *lines]))


def _result(element: Element, kind: str, message: str, lines: Sequence[str]) -> None:
    SubElement(element, kind, message=xml_text(message), type=kind).text = xml_text("\n".join(lines))
