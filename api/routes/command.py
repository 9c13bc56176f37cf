"""Redis commands over HTTP: one, a pipeline, or a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Header
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.document.operations import operation
from tailrace.api.http.disconnect import execute_while_connected
from tailrace.api.http.problem_handlers import refusal_response
from tailrace.api.ports import Answer, StoreUnavailable
from tailrace.api.problems.table import (
    CommandRefused,
    HttpCode,
    RequestRefused,
    headers_of,
    problem_of,
    problem_response,
    request_id_of,
)
from tailrace.api.schemas.command import CommandBody, CommandOutcomes, CommandReply, CommandsBody
from tailrace.api.wire.bodies import json_body
from tailrace.api.wire.negotiation import JSON
from tailrace.api.wire.parameters import Store
from tailrace.api.wire.redis_words import (
    decode_command,
    decode_commands,
    outcome_parts,
    result_parts,
    waiting_at_most,
)
from tailrace.api.wire.turns import PART_BYTES, Slices, off_the_loop
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.errors import ErrorCode, StreamError, kept
from tailrace.core.grammar import Request as RedisRequest
from tailrace.core.grammar import Resp
from tailrace.core.limits import PIPELINE_COMMANDS_MAX, TRANSACTION_COMMANDS_MAX, WAIT_MS_MAX
from tailrace.core.parser import parse_request

router = APIRouter(tags=["command"])

ReplyEncoding: TypeAlias = Annotated[
    str | None,
    Header(
        alias="Upstash-Encoding",
        description="`base64`: all strings of the reply in base64, the status `OK` apart.",
        examples=["base64"],
    ),
]

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
    """One command in Redis's own words; the answer is its RESP2 reply as JSON.

    `BLOCK` waits, for at most the server's limit. An error is a problem whose member `error` is the
    exact Redis error line.
    """
    raw = await json_body(request)
    try:
        parsed = await off_the_loop(len(raw), lambda: parse_request(decode_command(raw)))
        if parsed.command is None:
            reply = store.admit(parsed).to_resp(None)
        else:
            bounded = waiting_at_most(parsed.command, WAIT_MS_MAX)
            admitted = store.under(parsed.access, parsed.name)
            reply = parsed.to_resp(await execute_while_connected(request, admitted, bounded))
    except StreamError as error:
        content = problem_of(CommandRefused(error), request_id_of(request.scope))
        return problem_response(content, headers_of(error))
    parts = await Slices().gather(result_parts(reply, all_base64=_asks_base64(upstash_encoding)))
    return _json_response(b'{"result":', parts, b"}")


def _json_response(before: bytes, parts: Iterable[bytes], after: bytes) -> Response:
    """The parts joined once: a long answer exists twice, and no more often."""
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
    """Commands one after another; one that fails, or does not parse, stops none. `BLOCK` does not wait.

    Other requests are served between them. The replies together may take `reply_bytes_max` bytes (see
    `GET /v1/limits`): a command whose reply does not fit any more has an `error` in its place and has
    changed nothing; those that follow are carried out, so that every write is reported.
    """
    slices = Slices()
    parsed = await _parsed_body(request, store, PIPELINE_COMMANDS_MAX, slices)
    outcomes = _Outcomes(parsed, slices, all_base64=_asks_base64(upstash_encoding))
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
            ErrorCode.REPLY_TOO_LARGE,
        ),
    ),
)
async def transaction(request: Request, store: Store, upstash_encoding: ReplyEncoding = None) -> Response:
    """Commands with nothing between them, at one instant (MULTI). `BLOCK` does not wait.

    One that does not parse, or is not allowed: nothing is done, and the answer is a 400, or a 403, whose
    `error` is that of Redis's EXEC. One that fails when it is carried out stops none of the others. Where
    the replies together surely exceed `reply_bytes_max` (see `GET /v1/limits`), nothing is done: 413.
    """
    slices = Slices()
    parsed = await _parsed_body(request, store, TRANSACTION_COMMANDS_MAX, slices)
    for number, each in enumerate(parsed):
        if isinstance(each, StreamError):
            return refusal_response(request, _discarded(number, each))
    outcomes = _Outcomes(parsed, slices, all_base64=_asks_base64(upstash_encoding))
    for reply in await store.execute_admitted(_to_execute(parsed)):
        await outcomes.take(reply)
    return _json_response(b"[", await outcomes.parts(), b"]")


def _discarded(number: int, error: StreamError) -> RequestRefused:
    is_denied = error.code is ErrorCode.NOPERM
    return RequestRefused(
        ErrorCode.NOPERM if is_denied else HttpCode.TRANSACTION_ABORTED,
        f"command {number} {'is not allowed' if is_denied else 'does not parse'}: {error.line}",
        errors=[{"pointer": f"/{number}", "detail": error.line}],
        members={**(error.details if is_denied else {}), "error": DISCARDED},
        headers=headers_of(error),
    )


async def _parsed_body(
    request: Request, store: Store, commands_max: int, slices: Slices
) -> list[RedisRequest | StreamError]:
    """Each command of the body as it may be carried out, or why it may not be."""
    parsed = []
    for words in await decode_commands(await json_body(request), commands_max, slices):
        size_bytes = sum(map(len, words)) + len(words) * PART_BYTES
        parsed.append(await _parsed(store, words, size_bytes))
        await slices.count(size_bytes)
    return parsed


async def _parsed(store: Store, words: list[bytes], size_bytes: int) -> RedisRequest | StreamError:
    try:
        return store.admit(await off_the_loop(size_bytes, partial(parse_request, words)))
    except StreamError as error:
        return kept(error)


def _to_execute(parsed: Sequence[RedisRequest | StreamError]) -> list[RedisRequest]:
    return [each for each in parsed if isinstance(each, RedisRequest) and each.command is not None]


class _Outcomes:
    """The items of an answer, written as JSON as soon as they are known, so that replies are not kept."""

    def __init__(
        self, parsed: Sequence[RedisRequest | StreamError], slices: Slices, *, all_base64: bool
    ) -> None:
        self.room = ReplyRoom()
        self._slices = slices
        self._all_base64 = all_base64
        self._following = iter(parsed)
        self._parts: list[bytes] = []

    async def take(self, answer: Answer) -> None:
        """The answer to the next request that has a command."""
        request = await self._next_with_command()
        assert request is not None, "there is an answer for each command"
        await self._write(
            answer if isinstance(answer, StreamError | StoreUnavailable) else request.to_resp(answer)
        )

    async def parts(self) -> list[bytes]:
        """The JSON text of all items, with commas between them."""
        await self._next_with_command()
        return self._parts[:-1]

    async def _next_with_command(self) -> RedisRequest | None:
        """The next request that has a command; the items before it need none, and are written."""
        for each in self._following:
            if isinstance(each, StreamError):
                await self._write(each)
            elif each.command is None:
                await self._write_literal(each.to_resp(None))
            else:
                return each
        return None

    async def _write_literal(self, literal: Resp) -> None:
        texts = literal if isinstance(literal, list) else [literal]
        try:
            self.room.charge_names([text for text in texts if isinstance(text, bytes)])
        except StreamError as error:
            await self._write(error)
        else:
            await self._write(literal)

    async def _write(self, outcome: Resp | StreamError | StoreUnavailable) -> None:
        self._parts += await self._slices.gather(outcome_parts(outcome, all_base64=self._all_base64))
        self._parts.append(b",")


def _asks_base64(encoding: str | None) -> bool:
    return (encoding or "").strip().lower() == "base64"
