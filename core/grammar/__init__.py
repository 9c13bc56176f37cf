"""The command grammar of Redis: words to commands of `core.commands`, replies to RESP2.

Owns syntax, number formats, the order in which arguments are judged, and the shape of every reply. Names and
arity are in `core.command_table`, and `core.parser` looks them up. Never looks at a stream, a clock or a
socket: a `Request` is a value, and what it means is the engine's business. MULTI, EXEC, DISCARD and WATCH are
not in it; transactions have a route of their own.
"""

from tailrace.core.grammar.request import Request, Resp, Rows, SimpleString

__all__ = ["Request", "Resp", "Rows", "SimpleString"]
