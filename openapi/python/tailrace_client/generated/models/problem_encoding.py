from typing import Literal

ProblemEncoding = Literal["base64"]

PROBLEM_ENCODING_VALUES: set[ProblemEncoding] = {
    "base64",
}


def check_problem_encoding(value: str) -> ProblemEncoding:
    if value in PROBLEM_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROBLEM_ENCODING_VALUES!r}")
