from typing import Literal

TailShape = Literal["fields", "pairs"]

TAIL_SHAPE_VALUES: set[TailShape] = {
    "fields",
    "pairs",
}


def check_tail_shape(value: str) -> TailShape:
    if value in TAIL_SHAPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TAIL_SHAPE_VALUES!r}")
