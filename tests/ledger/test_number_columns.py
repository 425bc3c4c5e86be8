"""Columns of many rows as arrays: every number and key comes back as it was stored."""

import math
from collections.abc import Sequence

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import create_engine

from areopage.digest import digest_of
from areopage.ledger.key_digests import digests_of
from areopage.ledger.number_columns import joined, key_column, read_columns, split_keys, taken, unknown

NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.floats(0, 20_000) | st.integers(0, 10).map(float)
Row = tuple[float | None, float | None, int | None]


@given(st.lists(st.tuples(NUMBERS, NUMBERS, st.none() | st.integers(0, 2**31 - 1)), max_size=30))
@example([(8.0, None, None), (7.999999999999999, None, 0), (8192.0, None, 1), (5e-324, None, 2)])
@example([(0.25, 0.1, 1), (12.5, 1e-7, None), (1e300, -1.0, 3)])
def test_numbers_come_back_as_they_are_stored(rows: Sequence[Row]) -> None:
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE j (id INTEGER PRIMARY KEY, seconds FLOAT, cost FLOAT, prompt_tokens INTEGER)")
        for row in rows:
            connection.exec_driver_sql("INSERT INTO j (seconds, cost, prompt_tokens) VALUES (?, ?, ?)", row)
        found = read_columns(connection, ("j.id",), ("j.seconds", "j.cost", "j.prompt_tokens"), (), "FROM j WHERE j.id > ?", (0,))
    engine.dispose()
    assert found.wholes[0].tolist() == list(range(1, len(rows) + 1))
    for column, stored in zip(found.numbers, zip(*rows, strict=True) if rows else ((), (), ()), strict=True):
        read = [None if math.isnan(value) else value for value in column.tolist()]
        assert read == list(stored)


@given(st.lists(st.text("abcdef0123456789-", min_size=1, max_size=90), max_size=20))
@example([digest_of(n) for n in range(3)])
@example([digest_of(0), "erased-" + "0" * 32])
def test_keys_of_any_length_come_back_as_they_are_stored(keys: Sequence[str]) -> None:
    assert split_keys(",".join(keys).encode()).tolist() == [key.encode() for key in keys]


@given(st.lists(st.text("abcdef0123456789-", min_size=1, max_size=90), unique=True, max_size=20), st.integers(64, 200))
def test_digests_tell_keys_apart_whatever_the_width_of_the_array(keys: Sequence[str], width: int) -> None:
    wide = np.array([key.encode() for key in keys], dtype=f"S{max(width, 90)}")
    first, second = digests_of(key_column(keys)), digests_of(wide)
    assert np.array_equal(first.first, second.first) and np.array_equal(first.second, second.second)
    assert len(set(first.first.tolist())) == len(set(first.second.tolist())) == len(keys)


def test_a_column_without_numbers_stays_one_when_it_is_joined_and_taken_from() -> None:
    assert joined(unknown(2), unknown(3)).strides == (0,) and len(joined(unknown(2), unknown(3))) == 5
    assert np.isnan(joined(unknown(2), np.array([1.0]))).tolist() == [True, True, False]
    assert np.isnan(taken(unknown(3), np.array([2, 0]))).tolist() == [True, True]
    assert taken(np.array([4.0, 5.0]), np.array([1, 0])).tolist() == [5.0, 4.0]
