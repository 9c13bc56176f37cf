"""What Redis and Valkey lack of a Tailrace: the policies of streams and groups. It sends nothing."""

from __future__ import annotations

from tailrace.app.cli.migrate.group_settings import Settings
from tailrace.app.cli.migrate.retention import NO_POLICIES, Rules, StreamPolicies


class WithoutPolicies:
    """The part of a `Place` without policies, whose `abilities` say so."""

    def group_settings(self, key: bytes) -> dict[bytes, Settings]:
        """Return none: the engine has no settings of groups."""
        del key
        return {}

    def configure(self, key: bytes, group: bytes, settings: Settings) -> None:
        """Fail: the engine has no settings of groups."""
        raise NotImplementedError(key, group, settings)

    def stream_policies(self, key: bytes) -> StreamPolicies:
        """Return none: the engine has no retention, and schedules nothing."""
        del key
        return NO_POLICIES

    def retain(self, key: bytes, rules: Rules) -> None:
        """Fail: the engine has no retention."""
        raise NotImplementedError(key, rules)
