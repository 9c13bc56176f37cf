"""Redis commands over HTTP: one, a pipeline, or a transaction."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import APIRouter, Header
from starlette.requests import Request
from starlette.responses import Response

from api.bodies import json_body
from api.disconnect import execute_while_connected
from api.operations import operation
from api.parameters import Store
from api.problem_handlers import refusal_response
from api.problems import (
    CommandRefused,
    HttpCode,
    RequestRefused,
    headers_of,
    problem_of,
    problem_response,
    request_id_of,
)
from api.redis_words import decode_command, decode_commands, outcome_json, result_json, waiting_at_most
from api.replies import json_response
from api.schemas.command import CommandBody, CommandOutcomes, CommandReply, CommandsBody
from core.errors import ErrorCode, StreamError
from core.grammar import Request as RedisRequest
from core.grammar import parse_request
from core.limits import WAIT_MS_MAX

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
    words = decode_command(await json_body(request))
    try:
        parsed = parse_request(words)
        if parsed.command is None:
            reply = store.admit(parsed).literal
        else:
            bounded = waiting_at_most(parsed.command, WAIT_MS_MAX)
            admitted = store.under(parsed.scope, parsed.name)
            reply = parsed.to_resp(await execute_while_connected(request, admitted, bounded))
    except StreamError as error:
        content = problem_of(CommandRefused(error), request_id_of(request.scope))
        return problem_response(content, headers_of(error))
    return json_response({"result": result_json(reply, all_base64=_asks_base64(upstash_encoding))})


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
    """Commands one after another; one that fails, or does not parse, stops none. `BLOCK` does not wait."""
    parsed = [_parsed(store, words) for words in decode_commands(await json_body(request))]
    return json_response(await _outcomes(store, parsed, all_base64=_asks_base64(upstash_encoding)))


@router.post(
    "/v1/command/multi-exec",
    **operation(
        "transaction",
        "Run Redis commands as a transaction",
        reply=CommandOutcomes,
        body=CommandsBody,
        errors=(HttpCode.TRANSACTION_ABORTED, ErrorCode.NOPERM, ErrorCode.LIMIT_EXCEEDED),
    ),
)
async def transaction(request: Request, store: Store, upstash_encoding: ReplyEncoding = None) -> Response:
    """Commands with nothing between them, at one instant (MULTI). `BLOCK` does not wait.

    One that does not parse, or is not allowed: nothing is done, and the answer is a 400, or a 403, whose
    `error` is that of Redis's EXEC. One that fails when it is carried out stops none of the others.
    """
    parsed = [_parsed(store, words) for words in decode_commands(await json_body(request))]
    for number, each in enumerate(parsed):
        if isinstance(each, StreamError):
            return refusal_response(request, _discarded(number, each))
    return json_response(await _outcomes(store, parsed, all_base64=_asks_base64(upstash_encoding)))


def _discarded(number: int, error: StreamError) -> RequestRefused:
    is_denied = error.code is ErrorCode.NOPERM
    return RequestRefused(
        ErrorCode.NOPERM if is_denied else HttpCode.TRANSACTION_ABORTED,
        f"command {number} {'is not allowed' if is_denied else 'does not parse'}: {error.line}",
        errors=[{"pointer": f"/{number}", "detail": error.line}],
        members={**(error.details if is_denied else {}), "error": DISCARDED},
        headers=headers_of(error),
    )


def _parsed(store: Store, words: list[bytes]) -> RedisRequest | StreamError:
    """The request as it may be carried out, or why it may not be."""
    try:
        return store.admit(parse_request(words))
    except StreamError as error:
        return error


async def _outcomes(
    store: Store, parsed: list[RedisRequest | StreamError], *, all_base64: bool
) -> list[dict[str, object]]:
    admitted = [each for each in parsed if isinstance(each, RedisRequest)]
    replies = iter(await store.execute_admitted(admitted))
    outcomes = []
    for each in parsed:
        if isinstance(each, StreamError):
            outcomes.append(outcome_json(each, all_base64=all_base64))
        elif each.command is None:
            outcomes.append(outcome_json(each.literal, all_base64=all_base64))
        else:
            reply = next(replies)
            shaped = reply if isinstance(reply, StreamError) else each.to_resp(reply)
            outcomes.append(outcome_json(shaped, all_base64=all_base64))
    return outcomes


def _asks_base64(encoding: str | None) -> bool:
    return (encoding or "").strip().lower() == "base64"
