"""Replies of RESP3 in the shape of RESP2, which the rest of the program reads.

It owns that conversion. Commands of streams return maps in RESP3: XREAD and XREADGROUP of keys, XINFO of
names.
"""

from __future__ import annotations

from typing import Any, Final

from tailrace.app.remote.link.port import EngineError, Resp, Words

READS: Final = frozenset({b"XREAD", b"XREADGROUP"})


def as_resp2(reply: Any, words: Words) -> Resp | EngineError:
    """Return the reply to a command as RESP2 has it. Cost: the size of maps only, for reads of streams."""
    if isinstance(reply, dict) and words[0].upper() in READS:
        # The entries of a stream are arrays in both protocols.
        return [[key, entries] for key, entries in reply.items()]
    return _flat(reply)


def _flat(reply: Any) -> Resp | EngineError:
    if isinstance(reply, dict):
        return [_flat(each) for pair in reply.items() for each in pair]
    if isinstance(reply, list):
        return [_flat(each) for each in reply]
    if isinstance(reply, bool):
        return int(reply)
    if isinstance(reply, float):
        return f"{reply:.17g}".encode()
    return reply  # type: ignore[no-any-return]
