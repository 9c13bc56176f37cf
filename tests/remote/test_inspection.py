"""What a gateway finds out about its engine at the start and while it runs: settings that lose acknowledged
entries, and rights that its user lacks."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

from tailrace.api.ports import StoreUnavailable
from tailrace.app.remote.inspecting import inspect
from tailrace.app.remote.keys.sweeping import retire_one, walk
from tailrace.app.remote.opening import CannotUseEngine, opened
from tailrace.app.remote.store import RemoteStore
from tailrace.app.settings import Settings
from tailrace.core import commands as c
from tailrace.core.errors import StreamError
from tailrace.core.parser import parse_request
from tests.support.command_lines import LINES
from tests.support.redis_node import RedisNode

PAGE: Final = Path(__file__).parents[2] / "docs" / "gateway.md"
FIELDS: Final = b'{"rider":"Castilla"}'
NEED_MORE: Final = (c.Flush, c.SetConfig)
"""Commands for which the page names further rights."""


@contextmanager
def configured(engine: RedisNode, **settings: str) -> Iterator[None]:
    """Change settings of the shared engine, and change them back."""
    names = {name: name.replace("_", "-") for name in settings}
    before = {name: _setting(engine, names[name]) for name in settings}
    try:
        for name, value in settings.items():
            engine.run("CONFIG", "SET", names[name], value)
        yield
    finally:
        for name, old in before.items():
            engine.run("CONFIG", "SET", names[name], old)


def _setting(engine: RedisNode, name: str) -> bytes:
    answer = engine.run("CONFIG", "GET", name)
    assert isinstance(answer, list)
    assert isinstance(answer[1], bytes)
    return answer[1]


@contextmanager
def user(engine: RedisNode, *rules: str) -> Iterator[str]:
    """Create a user of the shared engine; yield the URL for `--store`."""
    engine.run("ACL", "SETUSER", "tailrace", "reset", *rules, "on", ">secret")
    engine.run("ACL", "LOG", "RESET")
    try:
        yield f"redis://tailrace:secret@{engine.address}"
    finally:
        engine.run("ACL", "DELUSER", "tailrace")


def test_an_engine_that_evicts_streams_is_refused_at_the_start_unless_that_is_accepted(
    engine: RedisNode, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"redis://{engine.address}"
    said = f"{engine.address} deletes acknowledged entries when its memory is full"

    async def main() -> None:
        for policy, limit in (("allkeys-lru", "0"), ("volatile-lru", "300mb"), ("noeviction", "300mb")):
            with configured(engine, maxmemory_policy=policy, maxmemory=limit):
                async with opened(Settings(store=url)) as (_, found):
                    assert found.inspection.evicting() == []
        with configured(engine, maxmemory_policy="allkeys-random", maxmemory="300mb"):
            with pytest.raises(CannotUseEngine, match=f"{said}.*--accept-eviction"):
                async with opened(Settings(store=url)):
                    pass
            async with opened(Settings(store=url, accept_eviction=True)) as (_, found):
                assert said in found.inspection.warnings()[0]
        # It begins while the gateway runs.
        async with opened(Settings(store=url)) as (link, found):
            store = RemoteStore()
            store.use(link, found)
            found.inspection.note()
            with configured(engine, maxmemory_policy="allkeys-lru", maxmemory="300mb"):
                await inspect(link, found)
            assert said in found.inspection.warnings()[0]
            assert store.is_ready
            caplog.clear()
            found.inspection.note()
            found.inspection.note()
            [record] = caplog.records
            assert record.levelno == logging.WARNING
            assert said in record.fields["warnings"][0]  # type: ignore[attr-defined] # of this logger

    asyncio.run(main())


@pytest.mark.parametrize(
    ("rules", "known"),
    [
        (("-config",), {"maxmemory": "0", "maxmemory-policy": "noeviction"}),
        (("-config", "-info"), {}),
    ],
)
def test_a_setting_that_the_engine_does_not_tell_is_unknown_and_no_warning(
    engine: RedisNode, rules: tuple[str, ...], known: dict[str, str]
) -> None:
    async def main(url: str) -> None:
        async with opened(Settings(store=url)) as (_, found):
            [node] = found.inspection.found.values()
            assert node.settings == known
            assert node.may_evict is (False if known else None)
            assert found.inspection.warnings() == []

    with user(engine, "~*", "&*", "+@all", *rules) as url:
        asyncio.run(main(url))


def acl_line() -> list[str]:
    """Return the rules of the line on the page, without the switch and the password."""
    found = re.search(r"^ACL SETUSER tailrace on >secret (.*)$", PAGE.read_text(), re.MULTILINE)
    assert found is not None
    return found[1].split()


def test_the_rights_on_the_page_suffice_for_every_command_and_for_what_gateways_do_by_themselves(
    engine: RedisNode,
) -> None:
    async def run(store: RemoteStore, *commands: c.Command) -> None:
        for command in commands:
            await store.execute(command)

    async def main(url: str) -> None:
        async with opened(Settings(store=url)) as (link, found):
            assert found.inspection.why_not_ready() is None
            assert found.library is not None
            store = RemoteStore()
            store.use(link, found)
            key, group = b"{rights}:s", b"judges"
            keyed = c.Idempotency(b"p", b"k", b"fingerprint")
            for line in LINES.values():
                words = [word.encode().replace(b"race:", b"{rights}:") for word in line.split()]
                command = parse_request(words).command
                if command is not None and not isinstance(command, NEED_MORE):
                    with suppress(StreamError, StoreUnavailable):  # the engine logs each missing right
                        await store.execute(command)
            await run(
                store,
                c.Append(key, [FIELDS] * 2, idempotency=keyed),
                c.CreateGroup(key, group, 0),
                c.ConfigureGroup(key, group, max_deliveries=1, dead_letter_stream=b"{rights}:dead"),
                c.ConfigureStream(key, retention=c.RetentionRules(max_length=1_000)),
                c.ReadGroup(group, b"alice", (c.ReadFrom(key, c.Special.NEW),), block_ms=10),
                c.Read((c.ReadFrom(key, c.Special.LAST_ID),), block_ms=10),
                c.DeleteConsumer(key, group, b"alice", transfer_to=b"bob"),
            )
            await store.execute_all([c.StreamLength(key), c.DeleteKeys((key,))])
            await walk(link, found.library, 0)
            await retire_one(link, found.library, key)

    with user(engine, *acl_line()) as url:
        asyncio.run(main(url))
        assert engine.run("ACL", "LOG") == []


def test_a_gateway_that_lacks_a_right_is_not_ready_and_names_it_until_it_is_granted(
    engine: RedisNode,
) -> None:
    async def main(url: str) -> None:
        async with opened(Settings(store=url)) as (link, found):
            store = RemoteStore()
            store.use(link, found)
            assert store.not_ready is not None
            said = f"the user of the engine lacks rights at {engine.address}: "
            assert store.not_ready.reason.startswith(said)
            lacking = store.not_ready.reason.removeprefix(said).split()
            assert {"+exists", "+publish", "+type"} <= set(lacking) <= set(acl_line())
            assert "+function|load +fcall +fcall_ro" in found.inspection.warnings()[-1]
            engine.run("ACL", "SETUSER", "tailrace", *lacking)
            await inspect(link, found)
            assert store.is_ready

    with user(engine, "~*", "&*", "+@stream", "+@connection") as url:
        asyncio.run(main(url))


def test_missing_keys_and_channels_are_named_as_rights(engine: RedisNode) -> None:
    async def main(url: str) -> None:
        async with opened(Settings(store=url)) as (_, found):
            assert found.inspection.why_not_ready() == (
                f"the user of the engine lacks rights at {engine.address}: &tailrace:wake:* ~*"
            )

    with user(engine, "~race:*", "resetchannels", "+@all") as url:
        asyncio.run(main(url))
