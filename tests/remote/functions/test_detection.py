"""What an engine can do is found by asking it, and the library is loaded again where an engine has lost
it."""

from __future__ import annotations

import pytest

from tailrace.app.remote.functions import appends
from tailrace.app.remote.functions.capabilities import Capabilities, Support
from tailrace.app.remote.functions.detection import detect
from tailrace.app.remote.functions.library import How, Library
from tailrace.app.remote.opening import EngineLink
from tailrace.core import commands as c
from tests.remote.functions.conftest import VERSIONS, Version, executable_of
from tests.support.links import linked, run
from tests.support.redis_cluster import RedisCluster
from tests.support.redis_node import RedisNode

NEWER = (
    "xnack",
    "xdelex",
    "xackdel",
    "policies",
    "claim",
    "budgets",
    "read_budgets",
    "idmp",
    "last_entry",
    "empty_reads",
)
NATIVE = {"7.0.15": set(), "8.10.2": set(NEWER), "valkey-9.1.2": {"last_entry", "empty_reads"}}
WITHOUT_FUNCTIONS = ("-function", "-fcall", "-fcall_ro")
WITHOUT_ANY = (*WITHOUT_FUNCTIONS, "-script", "-evalsha", "-evalsha_ro")


def detected(url: str) -> Capabilities:
    found: list[Capabilities] = []

    async def main() -> None:
        async with linked(url) as link:
            found.append(await detect(link))
            assert await link.call([b"DBSIZE"], key=None, is_write=False) == 0, "asking changes nothing"

    run(main)
    return found[0]


def with_user(node: RedisNode, name: str, *rules: str) -> str:
    """Return the URL of a user with these rules."""

    async def main() -> None:
        async with linked(f"redis://{node.address}") as link:
            words = ["ACL", "SETUSER", name, "reset", "on", ">secret", "~*", "&*", "+@all", *rules]
            await link.call([word.encode() for word in words], key=None, is_write=False)
            await link.call([b"FLUSHALL"], key=None, is_write=True)

    run(main)
    return f"redis://{name}:secret@{node.address}"


def test_an_engine_is_asked_for_each_feature(node: tuple[Version, RedisNode]) -> None:
    version, server = node
    found = detected(f"redis://{server.address}")
    natives = {name for name in NEWER if getattr(found, name).support is Support.NATIVE}
    assert natives == NATIVE[version.name]
    assert all(getattr(found, name).support is Support.EMULATED for name in set(NEWER) - natives)
    assert found.how == "functions"
    assert found.idempotency.support is found.batches.support is Support.EMULATED


def test_a_user_without_functions_gets_scripts(node: tuple[Version, RedisNode]) -> None:
    found = detected(with_user(node[1], "scripted", *WITHOUT_FUNCTIONS))
    assert found.how == "scripts"
    assert found.functions.support is Support.EMULATED


def test_a_user_without_functions_and_scripts_is_told_what_is_needed(node: tuple[Version, RedisNode]) -> None:
    version, server = node
    found = detected(with_user(server, "bare", *WITHOUT_ANY))
    assert found.how is None
    assert found.batches.support is Support.REFUSED
    assert "functions or scripts" in found.batches.reason
    assert found.xnack.support is (Support.NATIVE if "xnack" in NATIVE[version.name] else Support.REFUSED)


@pytest.mark.parametrize(("how", "forget"), [("functions", b"FUNCTION"), ("scripts", b"SCRIPT")])
def test_a_library_that_the_engine_has_lost_is_loaded_again(
    node: tuple[Version, RedisNode], how: How, forget: bytes
) -> None:
    async def main() -> None:
        async with linked(f"redis://{node[1].address}") as link:
            library = Library(how)
            assert await append(link, library) == 2
            await link.call([forget, b"FLUSH"], key=None, is_write=True)
            assert await append(link, library) == 2
            assert await link.call([b"XLEN", b"s"], key=b"s", is_write=False) == 4
            await link.call([b"FLUSHALL"], key=None, is_write=True)

    run(main)


def test_of_masters_that_differ_the_least_counts() -> None:
    old, new = (executable_of(version) for version in VERSIONS[:2])
    cluster = RedisCluster(new, masters=2, replicas=0)
    cluster.nodes[1].executable = old
    with cluster:
        url = f"redis+cluster://{cluster.nodes[0].address}"
        found = detected(url)
        assert all(getattr(found, name).support is Support.EMULATED for name in NEWER)
        assert found.how == "functions"
        cluster.nodes[0].run("ACL", "SETUSER", "default", *WITHOUT_FUNCTIONS)
        assert detected(url).how == "scripts"


def test_libraries_of_two_versions_live_side_by_side(node: tuple[Version, RedisNode]) -> None:
    async def main() -> None:
        async with linked(f"redis://{node[1].address}") as link:
            library = Library("functions")
            await library.load(link)
            other = library.load_commands()[0][-1].replace(library.name.encode(), b"tailrace_other")
            await link.call([b"FUNCTION", b"LOAD", b"REPLACE", other], key=None, is_write=True)
            assert await append(link, library) == 2
            await link.call([b"FLUSHALL"], key=None, is_write=True)

    run(main)


async def append(link: EngineLink, library: Library) -> int:
    call = appends.append(c.Append(b"s", [b'{"f":"v"}'] * 2), native_policies=False)
    reply = await library.run(link, call)
    assert reply is not None
    return len(reply.ids)
