"""Checks for the values of options (name, type and bounds) and for the session. An invalid value raises
`BadOption`.

This module owns the checks that the sink, the data source and the archive job share. The options themselves
are listed in `sink/options.py` and `source/options.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from pyspark.sql import SparkSession

from tailrace_spark.errors import BadOption

LEAST_LIKENESS = 0.5
"""A known name that is less similar than this to the unknown name is not suggested."""


def refuse_unknown(given: Iterable[str], known: Collection[str]) -> None:
    """Raise `BadOption` for the first unknown name; the error suggests the most similar known name."""
    for name in given:
        if name not in known:
            raise BadOption(f"unknown option {name!r}{_nearest(name, known)}")


def _nearest(name: str, known: Collection[str]) -> str:
    by_folded = {option.casefold(): option for option in known}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=LEAST_LIKENESS)
    return (
        f"; did you mean {by_folded[near[0]]!r}?" if near else f"; the options are {', '.join(sorted(known))}"
    )


def integer_within(name: str, value: object, least: int, most: int) -> int:
    """Return `value` as an integer from `least` to `most`. Text is accepted, because Spark passes its options
    as text."""
    try:
        number = int(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise BadOption(f"{name}: {value!r} is not an integer from {least} to {most}")
    return number


def seconds_within(name: str, value: object, least: float, most: float) -> float:
    """Return `value` as a number of seconds from `least` to `most`. Text is accepted."""
    try:
        number = float(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if isinstance(number, bool) or not isinstance(number, int | float) or not least <= number <= most:
        raise BadOption(f"{name}: {value!r} is not a number of seconds from {least:g} to {most:g}")
    return float(number)


def one_of(name: str, value: object, choices: Collection[str]) -> str:
    """Return `value` if it is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise BadOption(f"{name}: {value!r} is not one of {', '.join(choices)}")
    return value


def true_or_false(name: str, value: object) -> bool:
    """Return `value` as a boolean. The texts `true` and `false` are accepted, in any case."""
    found = {"true": True, "false": False}.get(str(value).casefold())
    if found is None:
        raise BadOption(f"{name}: {value!r} is not one of true, false")
    return found


def text(name: str, value: object) -> str:
    """Return `value` if it is a string that is not empty."""
    if not isinstance(value, str) or not value:
        raise BadOption(f"{name}: {value!r} is not a string with at least one character")
    return value


def ascii_text(name: str, value: object, most: int) -> str:
    """Return `value` if it is a string that an HTTP header can carry, of at most `most` characters."""
    found = text(name, value)
    if not (found.isascii() and found.isprintable() and found == found.strip() and len(found) <= most):
        raise BadOption(
            f"{name}: {value!r} is not a string of up to {most} printable ASCII characters without "
            "spaces at its ends"
        )
    return found


def check_classic(session: object, what: str, instead: str) -> None:
    """Raise `BadOption` if the session uses Spark Connect. `what` does not work then; `instead` does."""
    if not isinstance(session, SparkSession):
        raise BadOption(f"{what} does not work with a Spark Connect session; {instead}")
