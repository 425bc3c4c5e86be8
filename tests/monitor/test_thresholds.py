"""Thresholds follow the suite's scale unless they are given, and a given one must be on it."""

from pathlib import Path
from textwrap import indent
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.app.config import AppConfig, load_config
from areopage.app.monitor import fill_settings
from areopage.criteria.records import Scale
from areopage.errors import ConfigError
from areopage.ledger.store import Ledger
from areopage.ledger.write.alerts import Alerts
from areopage.monitor.alerts.jobs import alert_jobs, check_windows, due_answer_alert, open_alerting
from areopage.monitor.config import MonitorConfig, MonitorSection, MonitorThresholds
from areopage.monitor.golden import Golden
from servers.quality import MOMENT, quality_score, store_scores
from servers.small_suite import write_suite

TEN, FIVE = Scale(min=0.0, max=10.0), Scale(min=1.0, max=5.0)
TEN_DOWN = Scale(min=0.0, max=10.0, higher_is_better=False)
AUTO = MonitorSection()


def section_of(**sections: Any) -> MonitorSection:
    return MonitorSection.model_validate(sections)


def file_on(folder: Path, scale: dict[str, Any], text: str = "") -> AppConfig:
    """A configuration of a monitor whose suite is a bank's own, on a scale of its own; the text begins on its third line."""
    write_suite(folder / "bank", scoring={"scale": scale})
    path = folder / "areopage.yml"
    path.write_text("ledger: ledger.db\nmonitor:\n" + indent(f"{text}\nsuite: ./bank\n", "  "), encoding="utf-8")
    return load_config(path)


def config_on(folder: Path, scale: dict[str, Any], text: str = "") -> MonitorConfig:
    """The monitor of such a configuration."""
    return file_on(folder, scale, text).monitor


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (TEN, MonitorThresholds(answer=6.0, mean=6.5, mean_clear=7.0, drop=0.2, golden_drop=0.5, spread=3.0)),
        (FIVE, MonitorThresholds(answer=3.4, mean=3.6, mean_clear=3.8, drop=0.08, golden_drop=0.2, spread=1.2)),
        (TEN_DOWN, MonitorThresholds(answer=4.0, mean=3.5, mean_clear=3.0, drop=0.2, golden_drop=0.5, spread=3.0)),
    ],
)
def test_automatic_thresholds_are_shares_of_the_scale_from_its_bad_end(scale: Scale, expected: MonitorThresholds) -> None:
    assert AUTO.thresholds(scale) == expected


@given(st.floats(-1000, 1000), st.floats(0.5, 1000), st.booleans())
def test_automatic_thresholds_are_on_every_scale_and_clear_is_never_worse_than_open(low: float, width: float, up: bool) -> None:
    scale = Scale(min=low, max=low + width, higher_is_better=up)
    found = AUTO.thresholds(scale)
    assert found.answer is not None
    assert all(scale.contains(one) for one in (found.answer, found.mean, found.mean_clear))
    order = [found.answer, found.mean, found.mean_clear]
    assert order == sorted(order, reverse=not up)


def test_numbers_that_are_given_stand_and_null_switches_off() -> None:
    given_ = section_of(
        alerts={"threshold": 2, "mean": {"threshold": 2.5, "clear": 3}, "drop": {"points": 1}},
        golden={"dataset": "q.csv", "drop": 0.7},
        review={"spread": 2},
    )
    expected = MonitorThresholds(answer=2.0, mean=2.5, mean_clear=3.0, drop=1.0, golden_drop=0.7, spread=2.0)
    assert given_.thresholds(FIVE) == expected
    assert section_of(alerts={"threshold": None}).thresholds(TEN).answer is None


def test_where_a_mean_alert_closes_is_never_worse_than_where_it_opens_by_itself() -> None:
    assert section_of(alerts={"mean": {"threshold": 8}}).thresholds(TEN).mean_clear == 8.0
    assert section_of(alerts={"mean": {"threshold": 1}}).thresholds(TEN_DOWN).mean_clear == 1.0


@pytest.mark.parametrize(
    ("text", "line", "key", "what"),
    [
        ("alerts:\n  threshold: 6.0\n", 4, "alerts.threshold", "6 is not on the suite's scale of 1 to 5"),
        ("alerts:\n  mean:\n    threshold: 0.5\n", 5, "alerts.mean.threshold", "0.5 is not on"),
        ("alerts: {mean: {clear: 7}}\n", 3, "alerts.mean.clear", "7 is not on"),
        ("alerts: {drop: {points: 4.5}}\n", 3, "alerts.drop.points", "4.5 points are more than"),
        ("\nreview:\n  spread: 5\n", 5, "review.spread", "give at most 4, or auto"),
        ("golden:\n  dataset: q.csv\n  drop: 9\n", 5, "golden.drop", "9 points are more than"),
    ],
)
def test_a_threshold_off_the_suites_scale_is_a_mistake_at_its_line(
    tmp_path: Path, text: str, line: int, key: str, what: str
) -> None:
    config = config_on(tmp_path, {"min": 1, "max": 5}, text)
    with pytest.raises(ConfigError) as caught:
        config.thresholds(FIVE)
    assert str(caught.value).startswith(f"{tmp_path / 'areopage.yml'}:{line}: monitor.{key}: ")
    assert what in str(caught.value)


def test_a_threshold_of_a_rule_that_is_switched_off_may_be_anything(tmp_path: Path) -> None:
    text = "alerts: {mean: {enabled: false, threshold: 99}, drop: {enabled: false, points: 99}}\n"
    assert config_on(tmp_path, {"min": 1, "max": 5}, text).thresholds(FIVE).answer == 3.4


def test_whatever_starts_on_a_threshold_off_the_scale_refuses(tmp_path: Path) -> None:
    from areopage.app.monitor import scheduled_jobs
    from areopage.server.serve import run_server

    file = file_on(tmp_path, {"min": 1, "max": 5}, "alerts: {threshold: 6}\ngolden: {dataset: data.csv}\n")
    (tmp_path / "data.csv").write_text("id,prompt\na,Why?\n", encoding="utf-8")
    config = file.monitor
    ledger = Ledger.open(config.ledger)
    try:
        with pytest.raises(ConfigError, match="threshold: 6 is not on"):
            scheduled_jobs(ledger, file)
        for start in (open_alerting, alert_jobs, Golden.open):
            with pytest.raises(ConfigError, match="threshold: 6 is not on"):
                start(ledger, config)
    finally:
        ledger.close()
    with pytest.raises(ConfigError, match="threshold: 6 is not on"):
        fill_settings(config)
    with pytest.raises(ConfigError, match="threshold: 6 is not on"):
        run_server(file.listening_at("127.0.0.1", 0), lambda line: None, worker=False)


@pytest.mark.parametrize(("higher", "good", "weak"), [(True, 4.6, 1.4), (False, 1.4, 4.6)])
def test_a_suite_of_its_own_scale_alerts_on_its_weak_answers_and_on_no_good_ones(
    tmp_path: Path, higher: bool, good: float, weak: float
) -> None:
    config = config_on(tmp_path, {"min": 1, "max": 5, "higher_is_better": higher})
    ledger = Ledger.open(config.ledger)
    try:
        alerting = open_alerting(ledger, config)
        assert due_answer_alert(alerting, quality_score(good, id="good"), MOMENT) is None
        raised = due_answer_alert(alerting, quality_score(weak, id="weak"), MOMENT)
        assert raised is not None and Alerts(ledger).open(raised)
        scores = [quality_score(good, id=f"a-{n}", timestamp=MOMENT, evaluated_at=MOMENT) for n in range(20)]
        store_scores(ledger, [msgspec.structs.replace(one, scored=1, planned=1) for one in scores])
        check_windows(alerting, MOMENT)
        assert [alert.subject for alert in Alerts(ledger).list(state="open")] == ["weak"]
    finally:
        ledger.close()


@pytest.mark.parametrize("value", ["six", "true", "[1]", "'6'"])
def test_a_threshold_is_a_number_or_auto(tmp_path: Path, value: str) -> None:
    path = tmp_path / "areopage.yml"
    path.write_text(f"monitor:\n  alerts:\n    threshold: {value}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"areopage.yml:3: monitor.alerts.threshold: must be a number or auto, got"):
        load_config(path)
