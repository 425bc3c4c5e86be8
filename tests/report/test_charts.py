"""Charts: well-formed, without scripts and inline styles, true to the values, closed to what is fed into them."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from areopage.report.charts import STYLES, ChartLevel, Series, bar_chart, trend_chart

ATTACK = "\"'><script>x</script>&{{7919*7927}}"
DAYS = [f"{day} Nov" for day in range(1, 11)]


def tree(chart: Markup) -> ElementTree.Element:
    return ElementTree.fromstring(str(chart))


def paths(chart: Markup, css: str) -> list[str]:
    (group,) = [one for one in tree(chart).iter("g") if one.get("class") == css]
    return [path.get("d", "") for path in group.iter("path")]


def line(values: list[float | None], css: str = "c0") -> Series:
    return Series(label="mean", values=values, css=css)


values = st.lists(st.none() | st.floats(min_value=-5, max_value=15), min_size=1, max_size=80)


@given(values)
def test_every_trend_is_well_formed_and_has_its_gaps(given_values: list[float | None]) -> None:
    days = [str(n) for n in range(len(given_values))]
    chart = trend_chart(days, [line(given_values)], low=0, high=10, title="t")
    known = sum(value is not None for value in given_values)
    drawn = "".join(paths(chart, "c0"))
    assert drawn.count("M") + drawn.count("L") == known
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", drawn)]
    assert all(14 <= y <= 216 for y in heights), "inside of the drawing, also where a value is beyond the axis"


def test_a_line_has_a_gap_where_a_day_has_no_value_and_a_lone_day_has_a_dot() -> None:
    chart = trend_chart(DAYS, [line([1, 2, None, 4, None, 6, 7, 8, 9, 10])], low=0, high=10, title="t")
    (drawn,) = paths(chart, "c0")
    assert drawn.count("M") == 3
    many = trend_chart([str(n) for n in range(100)], [line([1.0, 2.0, None, 4.0, *[None] * 96])], low=0, high=10, title="t")
    assert len(list(tree(many).iter("circle"))) == 1


def test_higher_values_stand_higher() -> None:
    (drawn,) = paths(trend_chart(["a", "b"], [line([2.0, 8.0])], low=0, high=10, title="t"), "c0")
    first, second = (float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", drawn))
    assert first > second


@pytest.mark.parametrize(
    ("low", "high", "marks"),
    [
        (0, 10, ["0", "2", "4", "6", "8", "10"]),
        (0, 5, ["0", "1", "2", "3", "4", "5"]),
        (1, 7, ["2", "4", "6"]),
        (0, 1, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (0, 100, ["0", "20", "40", "60", "80", "100"]),
    ],
)
def test_the_axis_has_round_numbers(low: float, high: float, marks: list[str]) -> None:
    chart = tree(trend_chart(DAYS, [line([1.0] * 10)], low=low, high=high, title="t"))
    assert [one.text for one in chart.iter("text") if one.get("class") == "number"] == marks


def test_the_last_day_is_always_named_and_few_others_are() -> None:
    for count in (1, 2, 7, 8, 30, 366):
        days = [f"d{n}" for n in range(count)]
        chart = tree(trend_chart(days, [line([5.0] * count)], low=0, high=10, title="t"))
        named = [one.text for one in chart.iter("text") if str(one.get("class")).startswith("day")]
        assert f"d{count - 1}" in named
        assert len(named) <= 7


def test_no_days_at_all_is_an_empty_drawing() -> None:
    assert tree(trend_chart([], [line([])], low=0, high=10, title="t")).tag == "figure"


def test_several_lines_have_a_legend_in_their_order_and_the_first_lies_on_top() -> None:
    chart = tree(trend_chart(DAYS, [line([1.0] * 10, "c0"), line([2.0] * 10, "c1")], low=0, high=10, title="t"))
    assert [one.get("class") for one in chart.iter("li")] == ["c0", "c1"]
    assert [one.get("class") for one in chart.iter("g")] == ["c1", "c0"]
    assert not list(tree(trend_chart(DAYS, [line([1.0] * 10)], low=0, high=10, title="t")).iter("li"))


def test_numbers_are_written_as_the_page_writes_them() -> None:
    chart = str(trend_chart(["a"], [line([2.5])], low=0, high=1, title="t", number=lambda value: f"{value:g}".replace(".", ",")))
    assert "mean: 2,5" in chart
    assert "0,2" in chart


@given(st.lists(st.integers(min_value=0, max_value=10**7), min_size=1, max_size=12))
def test_bars_are_as_tall_as_their_counts(counts: list[int]) -> None:
    chart = tree(bar_chart([str(n) for n in range(len(counts))], counts, title="t", css=["weak"] * len(counts)))
    heights = [float(one.get("height", "")) for one in chart.iter("rect")]
    shown = [count for count in counts if count]
    assert len(heights) == len(shown)
    for height, count in zip(heights, shown, strict=True):
        assert height == pytest.approx(184 * count / max(counts), abs=0.1)


def test_what_is_fed_into_a_chart_stays_text() -> None:
    trend = trend_chart(
        [ATTACK], [Series(label=ATTACK, values=[1.0], css="c0"), line([2.0], "c1")],
        low=0, high=10, title=ATTACK, levels=[ChartLevel(value=6, label=ATTACK)],
    )  # fmt: skip
    for chart in (trend, bar_chart([ATTACK], [3], title=ATTACK)):
        assert "<script" not in chart
        found = tree(chart)
        assert ATTACK in "".join(found.itertext())
        assert {one.tag for one in found.iter()} <= {
            "figure", "figcaption", "ul", "li", "svg", "g", "path", "text", "circle", "title", "rect",
        }  # fmt: skip
        assert not [name for one in found.iter() for name in one.attrib if name == "style" or name.startswith("on")]


def test_every_class_of_a_chart_has_a_style() -> None:
    styles = STYLES.read_text(encoding="utf-8")
    trend = trend_chart(
        DAYS, [line([1.0] * 10, f"c{n}") for n in range(6)], low=0, high=10, title="t", levels=[ChartLevel(value=6, label="x")]
    )
    bars = bar_chart(["a", "b", "c"], [1, 2, 0], title="t", css=["excellent", "acceptable", "weak"])
    classes = {name for chart in (trend, bars) for one in tree(chart).iter() for name in str(one.get("class", "")).split()}
    assert not [name for name in classes if not re.search(rf"\.{name}\b", styles)]


def test_a_day_says_its_count_and_shows_its_interval() -> None:
    series = Series(
        label="mean", values=[6.0, None, 7.0], css="c0", notes=["4 answers", "", "400 answers"], ranges=[(2.0, 10.0), None, None]
    )
    chart = tree(trend_chart(["a", "b", "c"], [series], low=0, high=10, title="t"))
    titles = [title.text for title in chart.iter("title")]
    assert titles == ["a · mean: 6 (4 answers)", "a · mean: 6 (4 answers)", "c · mean: 7 (400 answers)"]
    (drawn,) = (path.get("d") or "" for path in chart.iter("path") if path.get("class") == "range")
    low, high = (float(y) for y in re.findall(r" ([\d.]+)V([\d.]+)", drawn)[0])
    assert low - high == pytest.approx(0.8 * (216 - 14))
