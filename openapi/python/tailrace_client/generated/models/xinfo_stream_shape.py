from typing import Literal

XinfoStreamShape = Literal["fields", "pairs"]

XINFO_STREAM_SHAPE_VALUES: set[XinfoStreamShape] = {
    "fields",
    "pairs",
}


def check_xinfo_stream_shape(value: str) -> XinfoStreamShape:
    if value in XINFO_STREAM_SHAPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {XINFO_STREAM_SHAPE_VALUES!r}")
