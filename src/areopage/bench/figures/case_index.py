"""Where the cases of a run stand on its page of cases: their anchors, and the anchors that show only some of them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Literal, get_args

from msgspec import Struct

from areopage.bench.results.run_data import RunData
from areopage.cases import MATURITIES, Case

CASES = "cases.html"
"""The page of cases, beside the report."""

WhyListed = Literal["failing", "disputed", "unscored", "unanswered", "thoughts"]
"""Why a case is on the page."""

CASE_KINDS: tuple[WhyListed, ...] = get_args(WhyListed)


class CaseIndex(Struct, frozen=True, kw_only=True, dict=True):
    """The names of cases, criteria and groups in anchors and classes: numbers, since texts from outside are none.

    Args:
        failed: the criteria that cases fail, by the case's id.
        kinds: the ids of the cases that are on the page, by the reason.
    """

    view: RunData
    failed: Mapping[str, Collection[str]]
    kinds: Mapping[WhyListed, Collection[str]]

    @cached_property
    def ages(self) -> tuple[str, ...]:
        """The ages of the run, young to old; () where no case states one."""
        ages = [item.case.maturity for item in self.view.items]
        return young_to_old(ages) if any(ages) else ()

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The cases' own categories; () where no case states one."""
        categories = tuple(dict.fromkeys(item.case.category for item in self.view.items))
        return categories if any(categories) else ()

    @cached_property
    def listed(self) -> dict[str, tuple[str, ...]]:
        """Why a case is on the page, by its id; only cases that are."""
        kinds: dict[str, list[str]] = {}
        for kind in CASE_KINDS:
            for case_id in dict.fromkeys(self.kinds[kind]):
                kinds.setdefault(case_id, []).append(kind)
        return {case_id: tuple(reasons) for case_id, reasons in kinds.items()}

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {item.case.id: number for number, item in enumerate(self.view.items, 1)}

    def anchor(self, case_id: str) -> str:
        """The anchor of a case."""
        return f"case-{self._numbers[case_id]}"

    def address(self, case_id: str) -> str:
        """The address of a case from the report; "" where it is not on the page."""
        return f"{CASES}#{self.anchor(case_id)}" if case_id in self.listed else ""

    def criterion_class(self, criterion: str) -> str:
        """The class of the cases that fail a criterion."""
        return f"c{list(self.view.spec.criteria_by_id()).index(criterion)}"

    def category_class(self, category: str) -> str:
        """The class of the cases that fail a criterion of a category."""
        categories = dict.fromkeys(criterion.category for criterion in self.view.spec.criteria)
        return f"g{list(categories).index(category)}"

    def age_class(self, age: str) -> str:
        """The class of the cases of an age."""
        return f"m{self.ages.index(age)}"

    def group_class(self, group: str) -> str:
        """The class of the cases of a category of their own."""
        return f"k{self.groups.index(group)}"

    def only(self, *classes: str) -> str:
        """The address that shows only the cases with all of these classes."""
        return f"{CASES}#only-{'-'.join(classes)}"

    def only_kind(self, kind: WhyListed) -> str:
        """The address that shows only the cases that are there for a reason."""
        return self.only(f"w{CASE_KINDS.index(kind)}")

    def classes(self, case: Case) -> Iterator[str]:
        """The classes of a case."""
        yield from (f"w{CASE_KINDS.index(kind)}" for kind in self.listed.get(case.id, ()))
        if self.ages:
            yield self.age_class(case.maturity)
        if self.groups:
            yield self.group_class(case.category)
        criteria, failed = self.view.spec.criteria_by_id(), self.failed.get(case.id, ())
        yield from map(self.criterion_class, failed)
        yield from dict.fromkeys(self.category_class(criteria[id].category) for id in failed)


def young_to_old(ages: Iterable[str]) -> tuple[str, ...]:
    """Ages in order; names that are none come last."""
    names = set(ages)
    return (*(name for name in MATURITIES if name in names), *sorted(names - set(MATURITIES)))
