"""The judge `rules:checks`: exact checks of a response, each for one prompt or for every prompt.

A criterion's score is the top of its scale where the response passes every check that the criterion has for the prompt, else the
bottom. Checks of one prompt are found by its digest, since a judge is not told the case's id.
"""

from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from areopage.cases import Case
from areopage.criteria import Check, Criterion, prompt_digest
from areopage.digest import digest_of
from areopage.jury.code_judge import CodeJudge
from areopage.jury.rules.parameters import EVERY_PROMPT, CheckRules
from areopage.models import ModelReference
from areopage.scoring import Outcome, Refused, Scored
from areopage.text import declines

# Part of the digest, hence of every judgment's key: raise it when a change here can move a score.
CODE_VERSION = "1"
_SHOWN = 200  # characters of a value in an explanation


def checks_judge(reference: ModelReference, rules: CheckRules) -> CodeJudge:
    """Build the judge of exact checks."""
    return CodeJudge(
        reference,
        partial(_judge, rules),
        digest=digest_of(["checks", CODE_VERSION, rules]),
        criteria=tuple(rules.criteria),
    )


def _judge(rules: CheckRules, case: Case, criterion: Criterion, language: str) -> Outcome:
    by_prompt = rules.criteria[criterion.path]
    checks = [check for key in (EVERY_PROMPT, prompt_digest(case.prompt_text)) for check in by_prompt.get(key, ())]
    if not checks:
        return Refused(reason="there is no check for this prompt")
    failed = [check for check in checks if not passes(check, case.response or "")]
    return Scored(
        score=criterion.scale.min if failed else criterion.scale.max,
        explanation=_explain(failed, len(checks), french=language.lower().startswith("fr")),
    )


def passes(check: Check, response: str) -> bool:
    """Whether a response passes a check."""
    return CHECKS[check.type](response, check.values) is not check.negated


def _explain(failed: list[Check], checks: int, *, french: bool) -> str:
    if not failed:
        return f"Toutes les vérifications passent ({checks})." if french else f"All checks pass ({checks})."
    named = "; ".join(
        f"{'not-' if check.negated else ''}{check.type} {', '.join(map(repr, check.values))}"[:_SHOWN].strip() for check in failed
    )
    return f"Échec ({len(failed)} sur {checks})\u00a0: {named}." if french else f"Failed ({len(failed)} of {checks}): {named}."


def _contains(response: str, values: tuple[str, ...], how: Callable[..., bool], *, fold: bool) -> bool:
    text = response.casefold() if fold else response
    return how((value.casefold() if fold else value) in text for value in values)


def _is_json(response: str, values: tuple[str, ...]) -> bool:
    try:
        msgspec.json.decode(response.strip())
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return False
    return True


CHECKS: Mapping[str, Callable[[str, tuple[str, ...]], bool]] = {
    "equals": lambda response, values: response.strip() in [value.strip() for value in values],
    "contains": partial(_contains, how=all, fold=False),
    "icontains": partial(_contains, how=all, fold=True),
    "contains-any": partial(_contains, how=any, fold=False),
    "contains-all": partial(_contains, how=all, fold=False),
    "icontains-any": partial(_contains, how=any, fold=True),
    "icontains-all": partial(_contains, how=all, fold=True),
    "starts-with": lambda response, values: response.startswith(values),
    "is-json": _is_json,
    "is-refusal": lambda response, values: declines(response) or not response.strip(),
}
"""Each check by its name; it says whether the response has what it looks for."""
