from typing import Literal

ScheduledEntryEncoding = Literal["base64"]

SCHEDULED_ENTRY_ENCODING_VALUES: set[ScheduledEntryEncoding] = {
    "base64",
}


def check_scheduled_entry_encoding(value: str) -> ScheduledEntryEncoding:
    if value in SCHEDULED_ENTRY_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SCHEDULED_ENTRY_ENCODING_VALUES!r}")
