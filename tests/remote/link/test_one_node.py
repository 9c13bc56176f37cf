"""A link to one node: replies, errors, order, and what is true of a command when its connection is lost."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tailrace.app.remote.link.exchange import Way
from tailrace.app.remote.link.port import EngineError, LinkDown
from tailrace.app.remote.link.timing import UNSENT_BYTES_MAX
from tests.support.links import PATIENT, QUICK, WARY, linked, run, settle
from tests.support.redis_node import RedisNode


def url_of(node: RedisNode) -> str:
    return f"redis://{node.address}"


def test_a_reply_that_is_an_error_names_keys_exactly_and_ends_no_connection(engine: RedisNode) -> None:
    async def main() -> None:
        async with linked(url_of(engine)) as link:
            before = await link.call([b"CLIENT", b"ID"], key=None, is_write=False)
            for key in (b"plain", b"\xff\xfe", b"s\xc3", "\ufffd\u00e9".encode()):
                words = [b"XREADGROUP", b"GROUP", b"g\xf0", b"c", b"STREAMS", key, b">"]
                with pytest.raises(EngineError) as refused:
                    await link.call(words, key=key, is_write=True)
                expected = (
                    b"NOGROUP No such key '%b' or consumer group 'g\xf0' in XREADGROUP with GROUP option"
                    % key
                )
                assert refused.value.line == expected
                assert refused.value.code == b"NOGROUP"
            assert await link.call([b"CLIENT", b"ID"], key=None, is_write=False) == before

    run(main)


def test_commands_together_give_replies_and_errors_in_order(engine: RedisNode) -> None:
    async def main() -> None:
        async with linked(url_of(engine)) as link:
            words = [b"XADD", b"together", b"1-1", b"a", b"b"]
            replies = await link.call_together(
                [words, words, [b"XLEN", b"together"]], key=b"together", is_write=True
            )
            assert replies[0] == b"1-1"
            assert isinstance(replies[1], EngineError)
            assert replies[2] == 1
            assert await link.call_together([], key=b"together", is_write=True) == []

    run(main)


def test_a_transaction_runs_all_commands_or_none(engine: RedisNode) -> None:
    async def main() -> None:
        async with linked(url_of(engine)) as link:
            add = [b"XADD", b"atomic", b"*", b"a", b"b"]
            with pytest.raises(EngineError) as refused:
                await link.call_together([add, [b"NOSUCH"]], key=b"atomic", is_write=True, atomic=True)
            assert b"unknown command" in refused.value.line
            replies = await link.call_together(
                [add, [b"GET", b"atomic"], [b"XLEN", b"atomic"]], key=b"atomic", is_write=True, atomic=True
            )
            assert isinstance(replies[1], EngineError)
            assert replies[2] == 1

    run(main)


def test_calls_that_are_made_one_after_the_other_take_effect_in_that_order(engine: RedisNode) -> None:
    async def main() -> None:
        async with linked(url_of(engine)) as link:
            calls = [
                link.call([b"RPUSH", b"order", b"%d" % number], key=b"order", is_write=True)
                for number in range(500)
            ]
            assert await asyncio.gather(*calls) == list(range(1, 501))

    run(main)


def test_a_write_on_a_lost_connection_is_unknown_and_a_read_is_sent_again(own_engine: RedisNode) -> None:
    async def main() -> None:
        async with linked(url_of(own_engine), PATIENT) as link:
            await link.call([b"PING"], key=None, is_write=False)
            own_engine.hang()
            write = asyncio.create_task(link.call([b"XADD", b"s", b"*", b"a", b"b"], key=b"s", is_write=True))
            read = asyncio.create_task(link.call([b"XLEN", b"s"], key=b"s", is_write=False))
            channel = link.router.masters[0].channel(Way.PLAIN)
            await settle(
                lambda: channel._connection is not None and channel._connection.in_flight == 2, "written"
            )
            own_engine.kill()
            with pytest.raises(LinkDown) as lost:
                await write
            assert lost.value.outcome_unknown
            assert own_engine.address in lost.value.reason
            own_engine.start()
            assert await read == 0

    run(main)


def test_a_command_that_was_never_written_is_carried_out_when_the_node_is_back(own_engine: RedisNode) -> None:
    async def main() -> None:
        async with linked(url_of(own_engine)) as link:
            own_engine.kill()
            await settle(lambda: not link.masters()[0].is_up, "the loss is noticed")
            assert own_engine.address in link.masters()[0].why_down
            call = asyncio.create_task(
                link.call([b"XADD", b"s", b"1-1", b"a", b"b"], key=b"s", is_write=True)
            )
            await asyncio.sleep(0)
            own_engine.start()
            assert await call == b"1-1"
            assert await link.call([b"XLEN", b"s"], key=b"s", is_write=False) == 1

    run(main)


def test_a_command_fails_with_the_node_in_its_reason_when_the_deadline_is_over(own_engine: RedisNode) -> None:
    async def main() -> None:
        async with linked(url_of(own_engine), replace(QUICK, retry_for_s=0.2)) as link:
            own_engine.kill()
            with pytest.raises(LinkDown) as down:
                await link.call([b"XLEN", b"s"], key=b"s", is_write=False)
            assert not down.value.outcome_unknown
            assert own_engine.address in down.value.reason

    run(main)


def test_a_node_that_hangs_loses_its_connection_and_is_used_again_when_it_answers(
    own_engine: RedisNode,
) -> None:
    async def main() -> None:
        async with linked(url_of(own_engine), WARY) as link:
            own_engine.hang()
            with pytest.raises(LinkDown) as silent:
                await link.call([b"XADD", b"s", b"*", b"a", b"b"], key=b"s", is_write=True)
            assert silent.value.outcome_unknown
            assert "has not answered" in silent.value.reason
            own_engine.resume()
            assert isinstance(await link.call([b"XLEN", b"s"], key=b"s", is_write=False), int)

    run(main)


def test_an_idle_connection_to_a_node_that_hangs_is_noticed_without_a_command(own_engine: RedisNode) -> None:
    async def main() -> None:
        async with linked(url_of(own_engine), WARY) as link:
            own_engine.hang()
            await settle(lambda: not link.masters()[0].is_up, "the hung node is down")
            assert "has not answered" in link.masters()[0].why_down
            own_engine.resume()
            await settle(lambda: link.masters()[0].is_up, "the node is up again")

    run(main)


def test_commands_for_a_node_that_hangs_are_kept_up_to_a_bound_and_then_all_carried_out(
    own_engine: RedisNode,
) -> None:
    async def main() -> None:
        async with linked(url_of(own_engine), PATIENT) as link:
            own_engine.hang()
            value, count = b"v" * 500_000, 60
            tasks = [
                asyncio.create_task(link.call([b"RPUSH", b"big", value], key=b"big", is_write=True))
                for _ in range(count)
            ]
            channel = link.router.masters[0].channel(Way.PLAIN)
            await settle(lambda: not channel.has_room, "no room is left")
            await asyncio.sleep(0)
            assert channel._unsent_bytes < UNSENT_BYTES_MAX + 2 * len(value)
            own_engine.resume()
            assert await asyncio.gather(*tasks) == list(range(1, count + 1))

    run(main)


def test_a_caller_that_goes_away_neither_harms_the_connection_nor_shifts_replies(engine: RedisNode) -> None:
    async def main() -> None:
        async with linked(url_of(engine)) as link:
            for number in range(200):
                gone = asyncio.create_task(link.call([b"ECHO", b"gone"], key=None, is_write=False))
                for _ in range(number % 4):
                    await asyncio.sleep(0)
                gone.cancel()
                text = b"%d" % number
                assert await link.call([b"ECHO", text], key=None, is_write=False) == text

    run(main)


def test_every_master_and_one_named_node_can_be_asked(engine: RedisNode) -> None:
    async def main() -> None:
        async with linked(url_of(engine), replace(QUICK, retry_for_s=0.05)) as link:
            (state,) = link.masters()
            assert (state.address, state.role, state.slots, state.is_up) == (
                engine.address,
                "master",
                0,
                True,
            )
            assert await link.call_masters([b"ECHO", b"x"], is_write=False) == [b"x"]
            assert await link.call_node(state.address, [b"ECHO", b"y"], is_write=False) == b"y"
            with pytest.raises(EngineError):
                await link.call_masters([b"NOSUCH"], is_write=False)
            with pytest.raises(LinkDown, match=r"127\.0\.0\.1:1 is not one of the nodes"):
                await link.call_node("127.0.0.1:1", [b"PING"], is_write=False)

    run(main)


def test_commands_fail_after_the_link_is_closed(engine: RedisNode) -> None:
    async def main() -> None:
        async with linked(url_of(engine)) as link:
            pass
        with pytest.raises(LinkDown) as closed:
            await link.call([b"PING"], key=b"s", is_write=False)
        assert not closed.value.outcome_unknown

    run(main)
