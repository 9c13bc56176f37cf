from typing import Literal

ProblemMissing = Literal["group", "stream"]

PROBLEM_MISSING_VALUES: set[ProblemMissing] = {
    "group",
    "stream",
}


def check_problem_missing(value: str) -> ProblemMissing:
    if value in PROBLEM_MISSING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROBLEM_MISSING_VALUES!r}")
