"""The rule about judges that moved: what an alert says of a round of canaries."""

from msgspec import structs

from areopage.ledger import CanaryRound
from areopage.monitor.alerts.rules import DRIFT, Finding, finding_of
from areopage.monitor.alerts.texts import AlertLocale, plain

SUBJECT_LENGTH = 256
UNSCORED = 0.1
"""A change of the share of calls without a score that is told."""


def canary_finding(canary_round: CanaryRound, locale: AlertLocale) -> Finding:
    """Bad where the judge moved on the criterion; clear on the first round after another exam."""
    shift = canary_round.shift
    values = {
        "judge": plain(canary_round.judge, 80),
        "model": plain(canary_round.model, 80),
        "criterion": locale.label(canary_round.path),
        "change": locale.signed(shift.value or 0.0),
        "low": locale.signed(shift.low or 0.0),
        "high": locale.signed(shift.high or 0.0),
        "apart": locale.number(shift.apart or 0.0, 2),
        "rows": locale.whole(shift.rows),
        "round": locale.whole(canary_round.found or canary_round.sequence),
        "before": locale.percent(shift.unscored_before, trim=True),
        "now": locale.percent(shift.unscored, trim=True),
        "suite": plain(canary_round.suite, 80),
    }
    unscored = abs(shift.unscored - shift.unscored_before) >= UNSCORED
    finding = finding_of(
        DRIFT,
        values,
        locale,
        locale.say("drift_unscored", **values) if unscored else "",
        locale.say("drift_next", **values),
        bad=canary_round.moved,
        clear=not canary_round.moved,
    )
    return structs.replace(finding, subject=f"{canary_round.judge}:{canary_round.path}"[:SUBJECT_LENGTH])
