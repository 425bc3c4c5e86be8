"""The least number, of cases or answers, that is enough for something."""

from collections.abc import Callable


def least_enough(is_enough: Callable[[int], bool], start: int, most: int) -> int | None:
    """The least number from `start` on that is enough; None where doubling `start` passes `most` first.

    Args:
        is_enough: whether a number is; from the least one on, all are.
        start: ≥ 1.
    """
    few, many = start - 1, start
    while not is_enough(many):
        few, many = many, 2 * many
        if many > most:
            return None
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if is_enough(middle) else (middle, many)
    return many
