from typing import Literal

GroupSettingsBodyEncoding = Literal["base64"]

GROUP_SETTINGS_BODY_ENCODING_VALUES: set[GroupSettingsBodyEncoding] = {
    "base64",
}


def check_group_settings_body_encoding(value: str) -> GroupSettingsBodyEncoding:
    if value in GROUP_SETTINGS_BODY_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GROUP_SETTINGS_BODY_ENCODING_VALUES!r}")
