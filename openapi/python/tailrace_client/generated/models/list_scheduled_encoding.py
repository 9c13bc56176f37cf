from typing import Literal

ListScheduledEncoding = Literal["base64"]

LIST_SCHEDULED_ENCODING_VALUES: set[ListScheduledEncoding] = {
    "base64",
}


def check_list_scheduled_encoding(value: str) -> ListScheduledEncoding:
    if value in LIST_SCHEDULED_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_SCHEDULED_ENCODING_VALUES!r}")
