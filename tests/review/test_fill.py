"""What goes to the review queue by itself."""

from datetime import timedelta

import pytest

from areopage.ledger.people.labels import ReviewQueue
from areopage.ledger.store import Ledger
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.operations import Alert
from areopage.review.fill import FillSettings, fill_queue, shuffled
from server.samples import SAMPLES
from servers.judged_answers import NOW, judged


def settings(threshold: float | None = 6.0, spread: float = 3.0, **others: int) -> FillSettings:
    """Those of a scale of 0 to 10; without a sample unless one is asked for."""
    return FillSettings(threshold=threshold, higher_is_better=True, spread=spread, **{"sample": 0, **others})


WEAK_ONLY = settings()


def why(ledger: Ledger) -> dict[str, str]:
    return {item.answer_id: item.why for item in ReviewQueue(ledger).open_items(limit=1000)}


def alert(id: str, hours: float) -> Alert:
    at = NOW - timedelta(hours=hours)
    return Alert(
        rule="answer",
        subject=id,
        state="open",
        opened_at=at,
        last_seen_at=at,
        title="",
        body="",
        answer_id=id,
        next_attempt_at=at,
    )


def test_weak_answers_are_queued_once_however_often_it_is_filled(ledger: Ledger) -> None:
    assert fill_queue(ledger, WEAK_ONLY, NOW)["low_score"] == 10
    assert fill_queue(ledger, WEAK_ONLY, NOW).total() == 0
    assert sorted(why(ledger)) == [f"a{number:02d}" for number in range(0, 30, 3)]
    assert set(why(ledger).values()) == {"low_score"}


def test_the_sample_of_a_day_is_the_same_whoever_draws_it_and_counts_before_all_else(ledger: Ledger) -> None:
    counts = fill_queue(ledger, settings(sample=4), NOW)
    assert counts["sample"] == 12
    drawn = {id for id, reason in why(ledger).items() if reason == "sample"}
    assert any(int(id[1:]) % 3 == 0 for id in drawn)  # a weak answer that was drawn counts as drawn
    assert counts["low_score"] == 10 - sum(int(id[1:]) % 3 == 0 for id in drawn)
    assert fill_queue(ledger, settings(sample=4), NOW + timedelta(hours=5))["sample"] == 0


def test_todays_answers_wait_for_the_day_to_end_but_an_alert_does_not(ledger: Ledger) -> None:
    judged(ledger, "today", NOW - timedelta(hours=1), SAMPLES[2])
    judged(ledger, "alerted", NOW - timedelta(hours=1), SAMPLES[2])
    Alerts(ledger).open(alert("alerted", 0.5))
    counts = fill_queue(ledger, settings(sample=50), NOW)
    assert counts["alert"] == 1
    assert why(ledger)["alerted"] == "alert"
    assert "today" not in why(ledger)
    assert fill_queue(ledger, settings(sample=50), NOW + timedelta(days=1))["sample"] == 1


def test_answers_that_address_the_judge_are_queued_at_once(ledger: Ledger) -> None:
    judged(ledger, "flatterer", NOW - timedelta(hours=1), SAMPLES[0], signs=("addressed:verdict",))
    counts = fill_queue(ledger, settings(threshold=None, spread=9.0), NOW)
    assert (counts["addressed"], counts.total()) == (1, 1)
    assert why(ledger) == {"flatterer": "addressed"}
    assert fill_queue(ledger, settings(threshold=None, spread=9.0), NOW).total() == 0


def test_golden_answers_are_left_out(ledger: Ledger) -> None:
    judged(ledger, "golden-1", NOW - timedelta(days=1), SAMPLES[2], source="golden:questions")
    Alerts(ledger).open(alert("golden-1", 2))
    fill_queue(ledger, settings(sample=50, spread=0.1), NOW)
    assert "golden-1" not in why(ledger)
    assert len(why(ledger)) == 30


def test_disputed_answers_are_queued_from_the_spread_on(ledger: Ledger) -> None:
    # every seeded answer has a spread of one point
    assert fill_queue(ledger, settings(threshold=None, spread=1.5), NOW).total() == 0
    assert fill_queue(ledger, settings(threshold=None, spread=1.0, most=2), NOW)["disagreement"] == 6


def test_no_more_than_the_most_of_a_day_are_queued_for_one_reason(ledger: Ledger) -> None:
    assert fill_queue(ledger, settings(most=1), NOW)["low_score"] == 3


def test_the_order_of_the_queue_does_not_tell_why_an_answer_is_there(ledger: Ledger) -> None:
    fill_queue(ledger, settings(sample=4), NOW)
    served = ReviewQueue(ledger).open_items(limit=1000)
    drawn, others = ([one.answer_id for one in served if (one.why == "sample") == wanted] for wanted in (True, False))
    assert [one.answer_id for one in served] == [*drawn, *others]  # the random sample comes first
    assert drawn and others and (drawn, others) == (shuffled(drawn), shuffled(others))
    assert shuffled(["b", "a", "c"]) == shuffled(["c", "b", "a"])


@pytest.mark.parametrize("raters", [1, 2])
def test_as_many_raters_are_wanted_as_configured(ledger: Ledger, raters: int) -> None:
    fill_queue(ledger, settings(raters=raters), NOW)
    assert {item.wanted for item in ReviewQueue(ledger).open_items()} == {raters}


def test_an_answer_that_was_queued_for_an_alert_counts_as_drawn_once_its_day_is_sampled(ledger: Ledger) -> None:
    judged(ledger, "alerted", NOW - timedelta(hours=1), SAMPLES[2])
    Alerts(ledger).open(alert("alerted", 0.5))
    fill_queue(ledger, settings(sample=50), NOW)
    assert why(ledger)["alerted"] == "alert"
    fill_queue(ledger, settings(sample=50), NOW + timedelta(days=1))
    assert why(ledger)["alerted"] == "sample"
