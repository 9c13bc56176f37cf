"""How options are read: each known by name, of its type, within its bounds, or refused with a sentence.

It owns the refusals that the sink and the data source share. Which options there are, they say themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from tailrace_spark.errors import BadOption

LEAST_LIKENESS = 0.5
"""A name that is less like the unknown one than this helps nobody."""


def refuse_unknown(given: Iterable[str], known: Collection[str]) -> None:
    """Raise `BadOption` for the first name that is not known; it names the nearest that is."""
    for name in given:
        if name not in known:
            raise BadOption(f"there is no option {name!r}{_nearest(name, known)}")


def _nearest(name: str, known: Collection[str]) -> str:
    by_folded = {option.casefold(): option for option in known}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=LEAST_LIKENESS)
    return f"; did you mean {by_folded[near[0]]!r}?" if near else f"; there are {', '.join(sorted(known))}"


def integer_within(name: str, value: object, least: int, most: int) -> int:
    """`value` as an integer from `least` to `most`; text is read, as Spark's own options are text."""
    try:
        number = int(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise BadOption(f"{name}: an integer from {least} to {most} is needed, not {value!r}")
    return number


def seconds_within(name: str, value: object, least: float, most: float) -> float:
    """`value` as seconds from `least` to `most`."""
    try:
        number = float(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if isinstance(number, bool) or not isinstance(number, int | float) or not least <= number <= most:
        raise BadOption(f"{name}: seconds from {least:g} to {most:g} are needed, not {value!r}")
    return float(number)


def one_of(name: str, value: object, choices: Collection[str]) -> str:
    """`value` as one of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise BadOption(f"{name}: one of {', '.join(choices)} is needed, not {value!r}")
    return value


def text(name: str, value: object) -> str:
    """`value` as text that is not empty."""
    if not isinstance(value, str) or not value:
        raise BadOption(f"{name}: text is needed, not {value!r}")
    return value


def ascii_text(name: str, value: object, most: int) -> str:
    """`value` as text that can stand in a header."""
    found = text(name, value)
    if not (found.isascii() and found.isprintable() and found == found.strip() and len(found) <= most):
        raise BadOption(f"{name}: up to {most} printable ASCII characters are needed, not {value!r}")
    return found
