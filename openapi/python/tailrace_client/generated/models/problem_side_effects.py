from typing import Literal

ProblemSideEffects = Literal["none", "unknown"]

PROBLEM_SIDE_EFFECTS_VALUES: set[ProblemSideEffects] = {
    "none",
    "unknown",
}


def check_problem_side_effects(value: str) -> ProblemSideEffects:
    if value in PROBLEM_SIDE_EFFECTS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROBLEM_SIDE_EFFECTS_VALUES!r}")
