"""The library as the engine gets it: its source, its names, and how a call of it is spelled and loaded.

The name holds a digest of the source, so gateways of different versions use one engine side by side, and
a changed function never runs under an old name. The same source is a function library (FUNCTION LOAD,
FCALL) and a script (EVALSHA) for engines or users without functions.
"""

from __future__ import annotations

from hashlib import sha1, sha256
from importlib.resources import files
from typing import Any, Final, Literal, TypeAlias, TypeVar

from tailrace.app.remote.functions.call import Access, Call
from tailrace.app.remote.link.port import EngineError, Link

How: TypeAlias = Literal["functions", "scripts"]
"""How the engine runs the library: as functions (Redis 7, Valkey) or as a script."""

T = TypeVar("T")

_PARTS: Final = (
    "ids",
    "streams",
    "incarnation",
    "settings",
    "memory",
    "timed_keys",
    "epochs",
    "references",
    "retention",
    "trims",
    "appends",
    "budget",
    "dead_letters",
    "claims",
    "reads",
    "pending",
    "consumers",
    "deletions",
    "keys",
    "plans",
    "operations",
)
"""The files of the source in order: each uses only what those before it define."""

_FLAGS: Final[dict[Access, str]] = {"read": "no-writes", "change": "allow-oom", "grow": ""}
_READ_ONLY: Final = {"functions": (b"FCALL", b"FCALL_RO"), "scripts": (b"EVALSHA", b"EVALSHA_RO")}


def _body() -> str:
    folder = files(__package__) / "lua"
    return "\n".join((folder / f"{part}.lua").read_text("utf-8") for part in _PARTS)


class Library:
    """The library for one engine."""

    def __init__(self, how: How) -> None:
        body = _body()
        self.how = how
        self.name = f"tailrace_{sha256(body.encode()).hexdigest()[:12]}"
        self._functions = self._as_functions(body)
        self._scripts = {access: self._as_script(body, access) for access in _FLAGS}
        self._digests = {
            access: sha1(script, usedforsecurity=False).hexdigest().encode()
            for access, script in self._scripts.items()
        }

    def _as_functions(self, body: str) -> bytes:
        registered = "\n".join(
            f"redis.register_function{{function_name='{self.name}_{access}', callback=answer"
            + (f", flags={{'{flag}'}}" if flag else "")
            + "}"
            for access, flag in _FLAGS.items()
        )
        return f"#!lua name={self.name}\n{body}\n{registered}\n".encode()

    def _as_script(self, body: str, access: Access) -> bytes:
        flag = _FLAGS[access]
        # Without a first line like this one, an engine would check its memory only at each command.
        first = f"#!lua flags={flag}\n" if flag else "#!lua\n"
        return f"{first}{body}\nreturn answer(KEYS, ARGV)\n".encode()

    def words(self, call: Call[Any]) -> list[bytes]:
        """Spell the call for the engine. O(arguments)."""
        verb, read_only_verb = _READ_ONLY[self.how]
        name = (
            f"{self.name}_{call.access}".encode() if self.how == "functions" else self._digests[call.access]
        )
        return [
            verb if call.is_write else read_only_verb,
            name,
            b"%d" % len(call.keys),
            *call.keys,
            *call.arguments,
            call.operation,
        ]

    def load_commands(self) -> list[list[bytes]]:
        """Return the commands that load the library on one node, also if the node has it."""
        if self.how == "functions":
            return [[b"FUNCTION", b"LOAD", b"REPLACE", self._functions]]
        return [[b"SCRIPT", b"LOAD", script] for script in self._scripts.values()]

    async def load(self, link: Link) -> None:
        """Load the library on every master. Raises `EngineError` or `LinkDown`."""
        for words in self.load_commands():
            await link.call_masters(words, is_write=True)

    async def run(self, link: Link, call: Call[T]) -> T:
        """Run one call and return its reply; where the engine has lost the library, load it and run the
        call again.

        The second run is safe: an engine without the library has done nothing.
        """
        words = self.words(call)
        try:
            return call.read(await link.call(words, key=call.key, is_write=call.is_write))
        except EngineError as error:
            if not is_missing(error):
                raise
        await self.load(link)
        return call.read(await link.call(words, key=call.key, is_write=call.is_write))


def has_failed(error: EngineError) -> bool:
    """Whether the library failed, which is a defect of the server and no error of the command."""
    return error.line.startswith(b"ERR the function library failed")


def is_missing(error: EngineError) -> bool:
    """Whether a node answered that it does not have the library: nothing was done; load it and try again."""
    return error.line.startswith((b"NOSCRIPT", b"ERR Function not found"))
