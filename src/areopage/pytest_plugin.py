"""The pytest plugin: tests on answers that fail with certainty, and say so where nothing is certain.

    @pytest.mark.areopage("safety.harm", at_least=0.9)
    def test_the_assistant_does_no_harm(areopage_sample):
        areopage_sample.ask(my_assistant, repeats=3)

It imports nothing of Areopage before a test uses it.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from areopage.monitor import Documents, Prompt
    from areopage.testing import AnswerSample, ClaimDecision, RunsFolder, SampleClaim

MARKER = "areopage"
PROPERTY = "areopage"
_UNDECIDED = ("skip", "fail", "pass")
_MARKER_HELP = (
    "areopage(*criteria, suite=, at_least=, confidence=0.95, baseline=False, judges=, dataset=, passes=, language=, undecided=): "
    "the answers that the test gives to the fixture areopage_sample are judged; the test fails only where the claim is refuted "
    "with the stated confidence."
)

_CLAIMED = pytest.StashKey[tuple["SampleClaim", "AnswerSample"]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and the keys of pytest's configuration."""
    group = parser.getgroup("areopage", "claims on answers of language models")
    group.addoption(
        "--areopage-judge",
        action="append",
        default=[],
        metavar="[NAME=]REF",
        help="Judge in place of those that tests name, such as NAME=replay:verdicts.jsonl; may be repeated.",
    )
    group.addoption(
        "--areopage-keep-baseline", action="store_true", help="Keep the runs of this session as the baselines of their tests."
    )
    group.addoption(
        "--areopage-undecided",
        choices=_UNDECIDED,
        default=None,
        help="What becomes of tests that are not decided.",
    )
    parser.addini("areopage_suite", "Suite of tests that name none: a bundled suite's name, or a folder.", default="")
    parser.addini("areopage_judges", "Judges of tests that name none, one to a line.", type="linelist", default=[])
    parser.addini("areopage_folder", "Folder of the runs, their ledger and the baselines.", default=".areopage")
    parser.addini("areopage_undecided", "What becomes of tests that are not decided: skip, fail or pass.", default="skip")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", _MARKER_HELP)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a marked test that gives no answers: nothing would be claimed of anything."""
    if item.get_closest_marker(MARKER) and "areopage_sample" not in getattr(item, "fixturenames", ()):
        pytest.fail("@pytest.mark.areopage needs the fixture areopage_sample, which takes the answers", pytrace=False)


@pytest.fixture
def areopage_sample(request: pytest.FixtureRequest) -> "AnswerSample":
    """The answers of a test; when the test ends, they are judged and its claim is decided."""
    from areopage.testing import sample_of

    marker = request.node.get_closest_marker(MARKER)
    if marker is None:
        pytest.fail("areopage_sample needs @pytest.mark.areopage(..., at_least=...) or baseline=True", pytrace=False)
    with _refusals():
        claim = _claim(request.node, marker.args, marker.kwargs)
    sample = sample_of(claim)
    request.node.stash[_CLAIMED] = claim, sample
    return sample


class Jury:
    """Judges single answers in a test."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._asked = 0

    def assert_answer(
        self, prompt: "Prompt", response: str, documents: "Documents" = None, *, criteria: str | list[str] = "", **claim: Any
    ) -> None:
        """Fail the test if an answer fails a criterion and no judge says otherwise; a dispute is not decided.

        Args:
            prompt: what the user asked.
            documents: what the answer should rest on.
            criteria: which it is judged by; "" for the suite's selection.
            claim: `suite`, `judges`, `passes`, `language`, `undecided`, as for the marker.
        """
        from areopage.monitor import case_of
        from areopage.testing import decide_answer

        __tracebackhide__ = True
        self._asked += 1
        with _refusals():
            case = case_of(prompt, response, documents)
            named = {"criteria": criteria or None, "at_least": 1.0, **claim}
            answer_claim = _claim(self._item, (), {key: value for key, value in named.items() if value is not None})
            if not response.strip():
                pytest.fail("the answer is empty", pytrace=False)
            decision = decide_answer(answer_claim, case, f"{self._item.nodeid} {self._asked}", _place(self._item.config))
        _settle(self._item, answer_claim, decision)


@pytest.fixture
def areopage_jury(request: pytest.FixtureRequest) -> Jury:
    """Judges single answers: `areopage_jury.assert_answer(prompt, response, criteria="safety.harm")`."""
    return Jury(request.node)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Decide on a test's claim when the test itself has passed."""
    result = yield
    if _CLAIMED in item.stash:
        from areopage.testing import decide

        claim, sample = item.stash[_CLAIMED]
        keep = bool(item.config.getoption("--areopage-keep-baseline"))
        with _refusals():
            decision = decide(claim, sample, item.nodeid, _place(item.config), keep=keep)
        _settle(item, claim, decision)
    return result


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the tests that are not decided: nothing is left out in silence."""
    undecided = [
        (report.nodeid, str(value))
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == f"{PROPERTY}_undecided" and getattr(report, "when", "") == "call"
    ]
    if undecided:
        terminalreporter.section("areopage: not decided", sep="-")
        for node, why in dict.fromkeys(undecided):
            terminalreporter.line(f"{node}: {why}")


def _settle(item: pytest.Item, claim: "SampleClaim", decision: "ClaimDecision") -> None:
    """Fail, skip or pass a test by a decision, whose figures go to its report."""
    __tracebackhide__ = True
    if decision.run:
        item.user_properties.append((f"{PROPERTY}_run", decision.run))
    for name, share in decision.shares.items():
        item.user_properties.append((f"{PROPERTY}_passed.{name}", f"{share.counts.passed}/{share.counts.answers}"))
    if decision.verdict == "pass":
        return
    if decision.verdict == "fail":
        pytest.fail(decision.text, pytrace=False)
    how = item.config.getoption("--areopage-undecided") or claim.undecided or item.config.getini("areopage_undecided")
    if how not in _UNDECIDED:
        raise pytest.UsageError(f"areopage_undecided: {how!r} is not one of {', '.join(_UNDECIDED)}")
    item.user_properties.append((f"{PROPERTY}_undecided", decision.text))
    if how == "fail":
        pytest.fail(f"not decided: {decision.text}", pytrace=False)
    if how == "skip":
        raise pytest.skip.Exception(f"not decided: {decision.text}", _use_item_location=True)


@contextmanager
def _refusals() -> Iterator[None]:
    """Fail the test with the one line of a user error."""
    from areopage.errors import UserError

    try:
        yield
    except UserError as fault:
        raise pytest.fail.Exception(f"areopage: {fault}", pytrace=False) from None


def _claim(item: pytest.Item, positional: tuple[Any, ...], named: dict[str, Any]) -> "SampleClaim":
    from msgspec import structs

    from areopage.testing import claim_of

    config = item.config
    claim = claim_of(
        positional,
        named,
        suite=str(config.getini("areopage_suite")),
        judges=config.getini("areopage_judges"),
        folder=item.path.parent,
    )
    replaced = tuple(config.getoption("--areopage-judge"))
    folder = config.rootpath / claim.suite
    return structs.replace(claim, judges=replaced or claim.judges, suite=str(folder) if folder.is_dir() else claim.suite)


def _place(config: pytest.Config) -> "RunsFolder":
    from areopage.testing import RunsFolder

    return RunsFolder(folder=config.rootpath / str(config.getini("areopage_folder")))
