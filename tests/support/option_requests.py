"""For each option that also needs `admin`: requests that use it, and the same requests without it.

Owns the requests, on the streams of `tests.security.conftest`; a test checks that each such option has some.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

GROUP: Final = "/v1/streams/race:france/groups/judges"
ENTRIES: Final = "/v1/streams/race:france/entries"


class Asked(NamedTuple):
    """The same request for each interface. `socket`: None if the WebSocket has no such request."""

    words: str
    path: str
    body: dict[str, Any]
    socket: dict[str, Any] | None = None


class OptionRequests(NamedTuple):
    """`beyond`: requests that use the option. `within`: requests that need only the scope of the command."""

    scope: Any
    beyond: tuple[Asked, ...]
    within: tuple[Asked, ...]


def _ack(words: str, **members: Any) -> Asked:
    body = {"ids": ["1-1"], "delete": True, **members}
    socket = {"op": "ack", "key": "race:france", "group": "judges", **body}
    return Asked(f"XACKDEL race:france judges {words} IDS 1 1-1", f"{GROUP}:ack", body, socket)


def _append(words: str, path: str = ENTRIES, **trim: Any) -> Asked:
    entry = {"fields": {"rider": "Wood"}}
    body = {**(entry if path == ENTRIES else {"entries": [entry]}), "trim": trim}
    socket = {"op": "append", "key": "race:france", **entry, "trim": trim}
    return Asked(f"XADD race:france {words} * rider Wood", path, body, socket)


def _claim(words: str, **members: Any) -> Asked:
    body = {"consumer": "alice", "min_idle_ms": 0, "ids": ["1-1"], **members}
    return Asked(f"XCLAIM race:france judges alice 0 1-1 {words}", f"{GROUP}:claim", body)


def _nack(words: str, **members: Any) -> Asked:
    body = {"ids": ["1-1"], "mode": "fail", **members}
    socket = {"op": "nack", "key": "race:france", "group": "judges", **body}
    return Asked(f"XNACK race:france judges FAIL IDS 1 1-1 {words}", f"{GROUP}:nack", body, socket)


REQUESTS: Final = {
    "XACKDEL with KEEPREF (the default) or DELREF": OptionRequests(
        "consume",
        (_ack(""), _ack("KEEPREF", references="keep"), _ack("DELREF", references="delete")),
        (_ack("ACKED", references="acknowledged"),),
    ),
    "XADD with MAXLEN 0": OptionRequests(
        "append",
        (
            _append("MAXLEN 0", max_length=0),
            _append("MAXLEN ~ 0", max_length=0, approximate=True),
            _append("MAXLEN = 0", f"{ENTRIES}:batch", max_length=0),
        ),
        (_append("MAXLEN 1000", max_length=1000), _append("MINID 0-1", min_id="0-1")),
    ),
    "XADD with DELREF": OptionRequests(
        "append",
        (
            _append("MAXLEN 1000 DELREF", max_length=1000, references="delete"),
            _append("MINID 0-1 DELREF", f"{ENTRIES}:batch", min_id="0-1", references="delete"),
        ),
        (
            _append("MAXLEN 1000 KEEPREF", max_length=1000, references="keep"),
            _append("MAXLEN 1000 ACKED", f"{ENTRIES}:batch", max_length=1000, references="acknowledged"),
        ),
    ),
    "XCLAIM with FORCE": OptionRequests(
        "consume", (_claim("FORCE", force=True),), (_claim("IDLE 5 RETRYCOUNT 1", idle_ms=5, retry_count=1),)
    ),
    "XCLAIM with LASTID": OptionRequests(
        "consume", (_claim("LASTID 9-9", last_id="9-9"),), (_claim("JUSTID", just_id=True),)
    ),
    "XNACK with FORCE": OptionRequests(
        "consume", (_nack("FORCE", force=True),), (_nack("RETRYCOUNT 2", retry_count=2),)
    ),
}
"""The requests by the name of the option in `api.access.permissions`."""
