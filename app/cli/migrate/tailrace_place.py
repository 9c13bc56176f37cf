"""A running Tailrace server as a place: commands as transactions over HTTP, appends by the import route.

The server may also be a gateway in front of Redis or Valkey; then it answers as the engine behind it does.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

import msgspec

from tailrace.app.cli.migrate.policies import (
    NO_POLICIES,
    Rules,
    Settings,
    StreamPolicies,
    body_of,
    held_by_gateway,
    retention_body,
    rules_had,
    rules_of,
    settings_of,
    shown,
)
from tailrace.app.cli.migrate.port import (
    Abilities,
    CannotMigrate,
    Entry,
    PlaceDown,
    Refusal,
    Reply,
    TooLarge,
    Words,
    accepted,
    scan,
    text,
)
from tailrace.app.cli.redis.replies import Failure, run, run_transaction
from tailrace.app.cli.redis.replies import Reply as ClientReply
from tailrace.app.cli.server import (
    RefusedByServer,
    Server,
    ServerProblem,
    Unreachable,
    escaped,
    stream_path,
)
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import NAME_BYTES_MAX
from tailrace.core.stream_id import format_id

_NDJSON: Final = {"Content-Type": "application/x-ndjson"}
_WHOLE_ENTRIES: Final = (("shape", "entry"),)
_TOO_LARGE: Final = 413
_INFO: Final = (b"INFO", b"server")
_encode_lines: Final = msgspec.json.Encoder().encode_lines


class TailracePlace:
    """A server behind `server`, which is open. `name`: its URL, or the data directory that it serves."""

    abilities = Abilities(
        unowned=True,
        settings=True,
        expiry=False,
        name_bytes_max=NAME_BYTES_MAX,
        group_settings=True,
        bounds_entries=True,
    )

    def __init__(self, name: str, server: Server) -> None:
        self.name = name
        self._server = server
        info = accepted(self._run(_INFO), _INFO)
        lines = cast("bytes", info).decode().splitlines()
        facts = dict(line.split(":", 1) for line in lines if ":" in line)
        self.engine = f"Tailrace {facts.get('tailrace_version', '?')}"
        with _errors(name):
            limits = server.request("GET", "/v1/limits").json()
        if limits.get("engine"):
            names = held_by_gateway(limits["engine"])
            self.abilities = self.abilities._replace(settings_held=names, group_settings=bool(names))
        self.abilities = self.abilities._replace(retention=rules_had(limits))

    def run(self, commands: Sequence[Words], key: bytes, *, atomic: bool = False) -> list[Reply]:
        """Run commands in one request; see `Place`."""
        del key, atomic
        if len(commands) == 1:
            return [self._run(commands[0])]
        with _errors(self.name):
            replies = run_transaction(self._server, commands)
        if isinstance(replies, Failure):
            raise CannotMigrate(f"{self.name} refused a transaction: {replies.line}")
        return [_plain(reply) for reply in cast("list[ClientReply]", replies)]

    def _run(self, words: Words) -> Reply:
        with _errors(self.name):
            return _plain(run(self._server, words))

    def append(self, key: bytes, entries: Sequence[Entry]) -> None:
        """Append entries by one import; see `Place`."""
        body = _encode_lines([_line(entry) for entry in entries])
        with _errors(self.name):
            path = stream_path(key, "/entries:import")
            self._server.request("POST", path, content=body, parameters=_WHOLE_ENTRIES, headers=_NDJSON)

    def group_settings(self, key: bytes) -> dict[bytes, Settings]:
        """Return the settings of the groups; see `Place`."""
        with _errors(self.name):
            reply = self._server.request("GET", stream_path(key, "/groups")).json()
        return dict(settings_of(reply["groups"]))

    def configure(self, key: bytes, group: bytes, settings: Settings) -> None:
        """Replace the settings of a group; see `Place`."""
        try:
            with _errors(self.name):
                self._server.request(
                    "POST", stream_path(key, f"/groups/{escaped(group)}:configure"), body=body_of(settings)
                )
        except CannotMigrate as error:
            raise CannotMigrate(
                f"the settings of the group {text(group)} of {text(key)} ({shown(settings)}) were refused; "
                f"remove them from the source, or migrate to a server with its own storage: {error}"
            ) from None

    def stream_policies(self, key: bytes) -> StreamPolicies:
        """Return the retention and the scheduled entries; see `Place`. A stream that is gone has none."""
        with _errors(self.name):
            try:
                found = self._server.request("GET", stream_path(key)).json()
            except RefusedByServer as error:
                if error.code == ErrorCode.NO_SUCH_STREAM:
                    return NO_POLICIES
                raise
        return StreamPolicies(rules_of(found.get("retention")), found.get("scheduled") or 0)

    def retain(self, key: bytes, rules: Rules) -> None:
        """Replace the rules of the stream's retention; see `Place`."""
        with _errors(self.name):
            self._server.request("POST", stream_path(key, ":configure"), body=retention_body(rules))

    def keys(self, patterns: Sequence[bytes]) -> Iterator[bytes]:
        """Return the keys of matching streams; see `Place`."""
        return scan(lambda words: accepted(self._run(words), words), patterns)

    def close(self) -> None:
        """Do nothing: the code that opened the connection closes it."""


def _line(entry: Entry) -> dict[str, Any]:
    """Return one line of an import."""
    value, fields = format_id(entry.id), entry.fields
    try:
        texts = [word.decode() for word in fields]
    except UnicodeDecodeError:
        encoded = [b64encode(word).decode() for word in fields]
        return {
            "id": value,
            "pairs": list(zip(encoded[::2], encoded[1::2], strict=True)),
            "encoding": "base64",
        }
    named = dict(zip(texts[::2], texts[1::2], strict=True))
    if 2 * len(named) == len(texts):
        return {"id": value, "fields": named}
    return {"id": value, "pairs": list(zip(texts[::2], texts[1::2], strict=True))}


def _plain(reply: ClientReply) -> Reply:
    """Return a reply in the types of the port."""
    if isinstance(reply, Failure):
        return Refusal(reply.line)
    if isinstance(reply, str):
        return reply.encode()
    return cast("Reply", reply)


@contextmanager
def _errors(name: str) -> Iterator[None]:
    """Turn errors of the HTTP client into those of the port."""
    try:
        yield
    except Unreachable as error:
        raise PlaceDown(str(error)) from None
    except RefusedByServer as error:
        if error.is_worth_repeating:
            raise PlaceDown(str(error)) from None
        if error.status == _TOO_LARGE:
            raise TooLarge(f"{name}: {error}") from None
        raise CannotMigrate(f"{name}: {error}") from None
    except ServerProblem as error:
        raise CannotMigrate(f"{name}: {error}") from None
