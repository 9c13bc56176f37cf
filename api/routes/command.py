"""Routes that run Redis commands: one command, a pipeline, or a transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Header
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.access.guarded_store import GuardedStore
from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.http.disconnect import execute_while_connected
from tailrace.api.ports import StreamStore
from tailrace.api.problems.table import (
    CommandRefused,
    HttpCode,
    RequestRefused,
    headers_of,
    problem_in_words,
    problem_response,
    request_id_of,
)
from tailrace.api.schemas.command import CommandBody, CommandOutcomes, CommandReply, CommandsBody
from tailrace.api.wire.bodies import json_body
from tailrace.api.wire.key_scans import scanned_keys
from tailrace.api.wire.negotiation import JSON
from tailrace.api.wire.outcomes import Outcomes
from tailrace.api.wire.parameters import Store
from tailrace.api.wire.redis_words import (
    decode_command,
    decode_commands,
    result_parts,
    waiting_at_most,
)
from tailrace.api.wire.turns import PART_BYTES, Slices, off_the_loop
from tailrace.core.commands import Command, ScanKeys
from tailrace.core.errors import ErrorCode, StreamError, kept
from tailrace.core.grammar import Request as RedisRequest
from tailrace.core.limits import PIPELINE_COMMANDS_MAX, TRANSACTION_COMMANDS_MAX, WAIT_MS_MAX
from tailrace.core.parser import parse_queued, parse_request
from tailrace.core.replies import Reply

router = APIRouter(tags=["command"], route_class=DeferredRoute)

ReplyEncoding: TypeAlias = Annotated[
    str | None,
    Header(
        alias="Upstash-Encoding",
        description="`base64`: return all strings of the reply in base64, except the status `OK`.",
        examples=["base64"],
    ),
]

_Parse: TypeAlias = Callable[[GuardedStore, list[bytes], int], Awaitable[RedisRequest | StreamError]]
"""A function of the store, the words of a command and their bytes."""

DISCARDED = "EXECABORT Transaction discarded because of previous errors."


@router.post(
    "/v1/command",
    **operation(
        "command",
        "Run a Redis command",
        reply=CommandReply,
        body=CommandBody,
        errors=(
            ErrorCode.INVALID_ID,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.NOT_AN_INTEGER,
            ErrorCode.SYNTAX,
            ErrorCode.WRONG_ARITY,
            ErrorCode.UNKNOWN_COMMAND,
            ErrorCode.NO_SUCH_STREAM,
            ErrorCode.NOGROUP,
            ErrorCode.ID_NOT_GREATER,
            ErrorCode.ID_EXHAUSTED,
            ErrorCode.BUSYGROUP,
            ErrorCode.ENTRY_TOO_LARGE,
            ErrorCode.LIMIT_EXCEEDED,
            ErrorCode.REPLY_TOO_LARGE,
            ErrorCode.MEMORY_LIMIT,
            ErrorCode.NOPERM,
            ErrorCode.TOO_MANY_READERS,
        ),
    ),
)
async def command(request: Request, store: Store, upstash_encoding: ReplyEncoding = None) -> Response:
    """Run one Redis command. The response is its RESP2 reply as JSON.

    `BLOCK` waits up to the server's limit. `SCAN` examines up to `scan_request_keys_max` keys (see
    `GET /v1/limits`); other requests are served meanwhile. An error is a problem whose member `error` is the
    exact error line of Redis.
    """
    raw = await json_body(request)
    try:
        parsed = await off_the_loop(len(raw), lambda: parse_request(decode_command(raw)))
        if parsed.command is None:
            reply = store.admit(parsed).to_resp(None)
        else:
            reply = parsed.to_resp(
                await _reply(request, store.under(parsed.access, parsed.name), parsed.command)
            )
    except StreamError as error:
        content = problem_in_words(error, request_id_of(request.scope))
        return problem_response(content, headers_of(error))
    parts = await Slices().gather(result_parts(reply, all_base64=_asks_base64(upstash_encoding)))
    return _json_response(b'{"result":', parts, b"}")


async def _reply(request: Request, store: StreamStore, command: Command) -> Reply:
    if isinstance(command, ScanKeys):
        return await scanned_keys(store, command)
    return await execute_while_connected(request, store, waiting_at_most(command, WAIT_MS_MAX))


def _json_response(before: bytes, parts: Iterable[bytes], after: bytes) -> Response:
    """Join the parts once, so that a long response is in memory at most twice."""
    return Response(b"".join((before, *parts, after)), media_type=JSON)


@router.post(
    "/v1/command/pipeline",
    **operation(
        "pipeline",
        "Run several Redis commands",
        reply=CommandOutcomes,
        body=CommandsBody,
        errors=(ErrorCode.LIMIT_EXCEEDED,),
    ),
)
async def pipeline(request: Request, store: Store, upstash_encoding: ReplyEncoding = None) -> Response:
    """Run several Redis commands, one after another. If one of them fails, the others still run.

    `BLOCK` does not wait. Commands of other requests can run in between. All replies together may take
    `reply_bytes_max` bytes (see `GET /v1/limits`). A command whose reply would exceed this changes nothing
    and has an `error` in its place; the commands after it still run.
    """
    slices = Slices()
    parsed = await _parsed_body(request, store, PIPELINE_COMMANDS_MAX, slices, _parsed)
    outcomes = Outcomes(parsed, slices, all_base64=_asks_base64(upstash_encoding))
    await store.execute_admitted_each(_to_execute(parsed), outcomes.room, outcomes.take)
    return _json_response(b"[", await outcomes.parts(), b"]")


@router.post(
    "/v1/command/multi-exec",
    **operation(
        "transaction",
        "Run Redis commands as a transaction",
        reply=CommandOutcomes,
        body=CommandsBody,
        errors=(
            HttpCode.TRANSACTION_ABORTED,
            ErrorCode.NOPERM,
            ErrorCode.LIMIT_EXCEEDED,
            ErrorCode.MEMORY_LIMIT,
        ),
    ),
)
async def transaction(request: Request, store: Store, upstash_encoding: ReplyEncoding = None) -> Response:
    """Run several Redis commands as one atomic step, like MULTI and EXEC.

    `BLOCK` does not wait. If a command is unknown, has a wrong number of arguments (400) or is not allowed
    (403), no command runs, and `error` is that of Redis's EXEC. Any other error, such as an invalid argument,
    is in the place of its command, and the others still run; so is the error of a read whose reply does not
    fit next to those before it (`reply_bytes_max`, see `GET /v1/limits`). If the commands together take too
    much work (413), or the memory limit forbids one of them (507), no command runs.
    """
    slices = Slices()
    parsed = await _parsed_body(request, store, TRANSACTION_COMMANDS_MAX, slices, _queued)
    outcomes = Outcomes(parsed, slices, all_base64=_asks_base64(upstash_encoding))
    try:
        replies = await store.execute_admitted(_to_execute(parsed))
    except StreamError as error:
        raise CommandRefused(error) from None
    for reply in replies:
        await outcomes.take(reply)
    return _json_response(b"[", await outcomes.parts(), b"]")


def _discarded(number: int, error: StreamError) -> RequestRefused:
    is_denied = error.code is ErrorCode.NOPERM
    return RequestRefused(
        ErrorCode.NOPERM if is_denied else HttpCode.TRANSACTION_ABORTED,
        f"command {number} {'is not allowed' if is_denied else 'is invalid'}: {error.line}",
        errors=[{"pointer": f"/{number}", "detail": error.line}],
        members={**(error.details if is_denied else {}), "error": DISCARDED},
        headers=headers_of(error),
    )


async def _parsed_body(
    request: Request, store: Store, commands_max: int, slices: Slices, parse: _Parse
) -> list[RedisRequest | StreamError]:
    """Return each command of the body, or the error that takes its place. Raises `RequestRefused` if `parse`
    raises."""
    parsed = []
    for number, words in enumerate(await decode_commands(await json_body(request), commands_max, slices)):
        size_bytes = sum(map(len, words)) + len(words) * PART_BYTES
        try:
            parsed.append(await parse(store, words, size_bytes))
        except StreamError as error:
            raise _discarded(number, error) from None
        await slices.count(size_bytes)
    return parsed


async def _parsed(store: GuardedStore, words: list[bytes], size_bytes: int) -> RedisRequest | StreamError:
    """Return a command, or the error of a command that is invalid or not allowed."""
    try:
        return store.admit(await off_the_loop(size_bytes, partial(parse_request, words)))
    except StreamError as error:
        return kept(error)


async def _queued(store: GuardedStore, words: list[bytes], size_bytes: int) -> RedisRequest | StreamError:
    """Return a command, or the error that takes its place. Raises `StreamError` if Redis does not queue the
    command."""
    queued = await off_the_loop(size_bytes, partial(parse_queued, words))
    return queued if isinstance(queued, StreamError) else store.admit(queued)


def _to_execute(parsed: Sequence[RedisRequest | StreamError]) -> list[RedisRequest]:
    return [each for each in parsed if isinstance(each, RedisRequest) and each.command is not None]


def _asks_base64(encoding: str | None) -> bool:
    return (encoding or "").strip().lower() == "base64"
