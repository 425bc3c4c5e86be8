"""The tree of exceptions and the few messages that it makes itself."""

from pathlib import Path

import pytest

from areopage.errors import (
    AreopageError,
    CallError,
    CallRejected,
    CallUnreachable,
    ConfigError,
    MissingExtra,
    UserError,
    name_list,
)


def test_a_failed_call_is_no_mistake_of_the_user() -> None:
    assert issubclass(CallError, AreopageError) and not issubclass(CallError, UserError)


@pytest.mark.parametrize(
    ("line", "key", "expected"),
    [
        (3, "a.b", "x.yml:3: a.b: wrong"),
        (3, None, "x.yml:3: wrong"),
        (None, "a", "x.yml: a: wrong"),
        (None, None, "x.yml: wrong"),
    ],
)
def test_a_config_error_says_where(line: int | None, key: str | None, expected: str) -> None:
    fault = ConfigError("wrong", path="x.yml", line=line, key=key)
    assert str(fault) == expected
    assert (fault.path, fault.line, fault.key) == (Path("x.yml"), line, key)


def test_a_missing_extra_says_what_to_install() -> None:
    assert str(MissingExtra("Parquet", "parquet")) == 'Parquet needs an extra: pip install "areopage[parquet]"'


def test_call_errors_keep_what_the_server_said() -> None:
    fault = CallUnreachable("no", retry_after=2.0, unconnected=True)
    assert (str(fault), fault.retry_after, fault.unconnected) == ("no", 2.0, True)
    assert CallRejected("no", status=404).status == 404


def test_long_lists_of_names_are_counted() -> None:
    assert name_list(["a", "b"]) == "a, b"
    assert name_list((str(n) for n in range(10)), 3) == "0, 1, 2 (+7 more)"
    assert name_list([]) == ""
