from typing import Literal

ServerStateDurability = Literal["always", "interval", "none"]

SERVER_STATE_DURABILITY_VALUES: set[ServerStateDurability] = {
    "always",
    "interval",
    "none",
}


def check_server_state_durability(value: str) -> ServerStateDurability:
    if value in SERVER_STATE_DURABILITY_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SERVER_STATE_DURABILITY_VALUES!r}")
