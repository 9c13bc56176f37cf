"""The command grammar of Redis: parses words into commands of `core.commands`, and writes replies as RESP2.

Owns syntax, number formats, the order in which arguments are checked, and the shape of every reply. Never
reads a stream, a clock or a socket, and never executes a command. `core.command_table` owns names and arity,
and `core.parser` looks them up. MULTI, EXEC, DISCARD and WATCH are not supported: a route of the API runs
transactions.
"""

from tailrace.core.grammar.request import Request, Resp, Rows, SimpleString

__all__ = ["Request", "Resp", "Rows", "SimpleString"]
