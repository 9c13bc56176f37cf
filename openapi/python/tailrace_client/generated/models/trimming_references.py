from typing import Literal

TrimmingReferences = Literal["acknowledged", "delete", "keep"]

TRIMMING_REFERENCES_VALUES: set[TrimmingReferences] = {
    "acknowledged",
    "delete",
    "keep",
}


def check_trimming_references(value: str) -> TrimmingReferences:
    if value in TRIMMING_REFERENCES_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TRIMMING_REFERENCES_VALUES!r}")
