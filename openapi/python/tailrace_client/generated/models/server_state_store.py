from typing import Literal

ServerStateStore = Literal["disk", "engine", "memory"]

SERVER_STATE_STORE_VALUES: set[ServerStateStore] = {
    "disk",
    "engine",
    "memory",
}


def check_server_state_store(value: str) -> ServerStateStore:
    if value in SERVER_STATE_STORE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SERVER_STATE_STORE_VALUES!r}")
