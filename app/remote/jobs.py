"""The commands that concern many keys or the whole engine, and what runs each of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from tailrace.app.remote.keys import listing, named, planning, server
from tailrace.app.remote.link.port import Link
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.plan import Plan
from tailrace.core import commands as c
from tailrace.core.replies import Reply

Job: TypeAlias = Callable[[Link, Engine, Any], Awaitable[Reply]]

JOBS: Final[Mapping[type[c.Command], Job]] = {
    c.ListStreams: listing.list_streams,
    c.KeyspaceSize: listing.count_streams,
    c.MatchKeys: listing.match_keys,
    c.ScanKeys: listing.scan_keys,
    c.DeleteKeys: named.delete_keys,
    c.CountKeys: named.count_keys,
    c.RenameKey: named.rename_key,
    c.CopyKey: named.copy_key,
    c.Flush: server.flush,
    c.GetConfig: server.get_config,
    c.SetConfig: server.set_config,
    c.ServerTime: server.server_time,
    c.ServerInfo: server.server_info,
    c.SplitRange: planning.split_range,
    c.SeekRange: planning.seek_range,
}
"""Commands that concern many keys, or the whole engine."""

TOGETHER: Final[Mapping[type[c.Command], Callable[[Any], Plan]]] = {
    c.CountKeys: named.count_together,
    c.DeleteKeys: named.delete_together,
}
"""Such commands, for keys in one slot, as a part of a transaction."""
