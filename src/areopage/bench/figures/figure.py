"""What a figure of a run is."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, Literal, Self, TypeVar, get_type_hints, overload

from msgspec import Struct

from areopage.bench.figures.case_index import CaseIndex
from areopage.bench.results.run_data import RunData
from areopage.locales import Locale
from areopage.report import Line, Notice, Section

FigureValue = TypeVar("FigureValue")
Fact = tuple[str, Line]


class Page(Struct, frozen=True, kw_only=True):
    """What figures are shown on.

    Args:
        index: where the page of cases shows a case.
        place: the options that name the ledger in commands on a terminal; None: a page, which names no folder of a machine.
        whole: no list of names is cut.
    """

    locale: Locale
    index: CaseIndex
    place: tuple[str, ...] | None = None
    whole: bool = False


class Figure(Struct, Generic[FigureValue], frozen=True, kw_only=True, eq=False):
    """One figure of a run; as an attribute of a class of runs it is the figure's value.

    Args:
        id: its name, and its key in `results.json`.
        compute: its value, from a run and other figures; what it says of itself describes the key.
        stored: where `results.json` keeps it: among the run's metadata, or beside the run; "" where it does not.
        notices: what it says above all figures.
        facts: what it says beside the final score.
        brief: whether the short console shows its facts.
        section: its section in the report; None where there is nothing to say.
    """

    id: str
    compute: Callable[[RunData], FigureValue]
    stored: Literal["metadata", "results", ""] = ""
    notices: Callable[[RunData, Page], Iterable[Notice]] | None = None
    facts: Callable[[RunData, Page], Iterable[Fact]] | None = None
    brief: bool = False
    section: Callable[[RunData, Page], Section | None] | None = None

    def of(self, run: RunData) -> FigureValue:
        """The figure of a run, computed when it is first asked for."""
        cache, key = run.__dict__, f"figure {self.id}"
        if key not in cache:
            cache[key] = self.compute(run)
        value: FigureValue = cache[key]
        return value

    @overload
    def __get__(self, run: None, owner: type) -> Self: ...
    @overload
    def __get__(self, run: RunData, owner: type) -> FigureValue: ...
    def __get__(self, run: RunData | None, owner: type) -> Self | FigureValue:
        return self if run is None else self.of(run)

    @property
    def type(self) -> Any:
        """The type of its value."""
        return get_type_hints(self.compute)["return"]

    @property
    def about(self) -> str:
        """What its value is."""
        return " ".join((self.compute.__doc__ or "").split())
