from typing import Literal

ExportEntriesShape = Literal["entry", "fields", "pairs"]

EXPORT_ENTRIES_SHAPE_VALUES: set[ExportEntriesShape] = {
    "entry",
    "fields",
    "pairs",
}


def check_export_entries_shape(value: str) -> ExportEntriesShape:
    if value in EXPORT_ENTRIES_SHAPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPORT_ENTRIES_SHAPE_VALUES!r}")
