"""The rule about judges that moved: what an alert says of a round of canaries."""

from msgspec import structs

from areopage.ledger import CanaryRound
from areopage.monitor.alerts.rules import DRIFT, Finding, finding_of
from areopage.monitor.alerts.texts import AlertLocale, plain

SUBJECT_LENGTH = 256
UNSCORED = 0.1
"""A change of the share of calls without a score that is told."""


def canary_finding(one: CanaryRound, locale: AlertLocale) -> Finding:
    """Bad where the judge moved on the criterion; clear on the first round after another exam."""
    shift = one.shift
    values = {
        "judge": plain(one.judge, 80),
        "model": plain(one.model, 80),
        "criterion": locale.label(one.path),
        "change": locale.signed(shift.value or 0.0),
        "low": locale.signed(shift.low or 0.0),
        "high": locale.signed(shift.high or 0.0),
        "apart": locale.number(shift.apart or 0.0, 2),
        "rows": locale.whole(shift.rows),
        "round": locale.whole(one.found or one.sequence),
        "before": locale.percent(shift.unscored_before, trim=True),
        "now": locale.percent(shift.unscored, trim=True),
        "suite": plain(one.suite, 80),
    }
    unscored = abs(shift.unscored - shift.unscored_before) >= UNSCORED
    found = finding_of(
        DRIFT,
        values,
        locale,
        locale.say("drift_unscored", **values) if unscored else "",
        locale.say("drift_next", **values),
        bad=one.moved,
        clear=not one.moved,
    )
    return structs.replace(found, subject=f"{one.judge}:{one.path}"[:SUBJECT_LENGTH])
