from typing import Literal

AccessReplyScopesItem = Literal["admin", "append", "consume", "read"]

ACCESS_REPLY_SCOPES_ITEM_VALUES: set[AccessReplyScopesItem] = {
    "admin",
    "append",
    "consume",
    "read",
}


def check_access_reply_scopes_item(value: str) -> AccessReplyScopesItem:
    if value in ACCESS_REPLY_SCOPES_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ACCESS_REPLY_SCOPES_ITEM_VALUES!r}")
