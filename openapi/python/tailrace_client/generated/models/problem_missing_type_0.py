from typing import Literal

ProblemMissingType0 = Literal["group", "stream"]

PROBLEM_MISSING_TYPE_0_VALUES: set[ProblemMissingType0] = {
    "group",
    "stream",
}


def check_problem_missing_type_0(value: str) -> ProblemMissingType0:
    if value in PROBLEM_MISSING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROBLEM_MISSING_TYPE_0_VALUES!r}")
