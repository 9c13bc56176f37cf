from typing import Literal

ScheduledEntryEncodingType0 = Literal["base64"]

SCHEDULED_ENTRY_ENCODING_TYPE_0_VALUES: set[ScheduledEntryEncodingType0] = {
    "base64",
}


def check_scheduled_entry_encoding_type_0(value: str) -> ScheduledEntryEncodingType0:
    if value in SCHEDULED_ENTRY_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SCHEDULED_ENTRY_ENCODING_TYPE_0_VALUES!r}")
