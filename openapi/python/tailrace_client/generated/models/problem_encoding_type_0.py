from typing import Literal

ProblemEncodingType0 = Literal["base64"]

PROBLEM_ENCODING_TYPE_0_VALUES: set[ProblemEncodingType0] = {
    "base64",
}


def check_problem_encoding_type_0(value: str) -> ProblemEncodingType0:
    if value in PROBLEM_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROBLEM_ENCODING_TYPE_0_VALUES!r}")
