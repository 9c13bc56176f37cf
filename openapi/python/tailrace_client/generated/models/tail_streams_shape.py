from typing import Literal

TailStreamsShape = Literal["fields", "pairs"]

TAIL_STREAMS_SHAPE_VALUES: set[TailStreamsShape] = {
    "fields",
    "pairs",
}


def check_tail_streams_shape(value: str) -> TailStreamsShape:
    if value in TAIL_STREAMS_SHAPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TAIL_STREAMS_SHAPE_VALUES!r}")
