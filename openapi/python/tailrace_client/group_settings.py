"""The settings of a consumer group, and the call that changes them. This module sends nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TypeAlias

from tailrace_client.call import Call
from tailrace_client.generated import models
from tailrace_client.generated.api import groups as groups_api
from tailrace_client.generated.types import Unset


@dataclass(frozen=True)
class Backoff:
    """How long a nack delays the next delivery of an entry: `initial_ms` after the first delivery, and
    `factor` times as long after each further one, but at most `max_ms`."""

    initial_ms: int
    factor: float = 2.0
    max_ms: int = 3_600_000


Setting: TypeAlias = int | str | Backoff
"""The value of a setting."""


def configure(key: str, group: str, settings: Mapping[str, Setting | Unset | None]) -> Call[models.Group]:
    """Return the call that changes the settings of the group that are set here; None removes one."""
    request = groups_api.configure_group._get_kwargs(key, group, body=models.GroupSettingsBody())
    # The model cannot hold null, which removes a setting.
    request["json"] = {
        name: asdict(value) if isinstance(value, Backoff) else value
        for name, value in settings.items()
        if not isinstance(value, Unset)
    }
    return Call(request, lambda answer: models.Group.from_dict(answer.json()), is_idempotent=True)
