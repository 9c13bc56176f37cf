"""Turns the exceptions of handlers into problem responses.

It maps exceptions to the codes of `api.problems.table`. An unexpected exception becomes a 500, and the server
logs its traceback.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic.fields import FieldInfo
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from tailrace.api.http.disconnect import client_gone
from tailrace.api.http.layers import REQUEST_ID_HEADER, raw_path_of
from tailrace.api.principals import Unauthenticated
from tailrace.api.problems.route_hints import (
    commands_are_elsewhere,
    is_command_path,
    method_hint,
    missing_hint,
    takes_redis_commands,
)
from tailrace.api.problems.table import (
    DEFECT,
    REFUSALS,
    HttpCode,
    Refusal,
    RequestRefused,
    headers_of,
    problem,
    problem_in_words,
    problem_of,
    problem_response,
    request_id_of,
)
from tailrace.api.schemas.texts import parameter_text
from tailrace.core.errors import StreamError

_CODE_OF_STATUS: Mapping[int, HttpCode] = {
    404: HttpCode.NOT_FOUND,
    405: HttpCode.METHOD_NOT_ALLOWED,
    413: HttpCode.BODY_TOO_LARGE,
}


def install_problem_handlers(app: FastAPI) -> None:
    """Make `app` answer every error with a problem, including 404, 405 and 500."""
    for refusal in REFUSALS:
        app.add_exception_handler(refusal, _refused)
    app.add_exception_handler(RequestValidationError, _parameters_refused)
    app.add_exception_handler(HTTPException, _not_routed)
    app.add_exception_handler(ClientDisconnect, client_gone)
    app.add_exception_handler(Exception, _defect)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, REFUSALS)
    return refusal_response(request.scope, error)


def refusal_response(scope: Scope, error: Refusal) -> Response:
    """Return the response to a refused request. On the paths of commands, its problem has a Redis error line:
    clients for Redis over REST show only that member."""
    path = raw_path_of(scope)
    is_known = isinstance(error, StreamError)  # the routes of commands give these their error line
    names_commands = takes_redis_commands if isinstance(error, Unauthenticated) else is_command_path
    write = problem_in_words if not is_known and names_commands(path) else problem_of
    content = write(error, request_id_of(scope))
    return problem_response(content, headers_of(error))


async def _parameters_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    declared = dict(_parameters(request.scope["route"].dependant))
    errors = [_parameter_error(item, declared) for item in error.errors()]
    detail = "; ".join(f"`{item['parameter']}`: {item['detail']}" for item in errors)
    return refusal_response(request.scope, RequestRefused(HttpCode.INVALID_PARAMETER, detail, errors=errors))


def _parameter_error(item: Mapping[str, Any], declared: Mapping[str, FieldInfo]) -> dict[str, str]:
    place, name = (str(step) for step in item["loc"][:2])
    detail = parameter_text(item, declared.get(name))
    return {"parameter": name, "in": place, "detail": detail}


def _parameters(dependant: Dependant) -> Iterator[tuple[str, FieldInfo]]:
    """Yield each parameter's name and declaration."""
    for field in (*dependant.query_params, *dependant.header_params, *dependant.path_params):
        yield field.alias, field.field_info
    for inner in dependant.dependencies:
        yield from _parameters(inner)


async def _not_routed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _CODE_OF_STATUS.get(error.status_code, HttpCode.BAD_REQUEST)
    headers = dict(error.headers or {})
    if code is HttpCode.METHOD_NOT_ALLOWED:
        headers["Allow"] = _allowed_methods(request) or ", ".join(sorted(headers["Allow"].split(", ")))
    content = problem(code, _detail_of(request, code, error, headers), request_id_of(request.scope))
    if takes_redis_commands(request.scope["path"]):
        content["error"] = commands_are_elsewhere(request)
    return problem_response(content, headers)


def _allowed_methods(request: Request) -> str:
    """Return the methods of all routes on this path. The router's own header has only those of the first
    route."""
    routes: Iterable[Route] = request.app.state.routes
    path = request.scope["path"]
    methods = {method for route in routes if route.path_regex.match(path) for method in route.methods or ()}
    if "GET" in methods:
        methods.add("HEAD")
    return ", ".join(sorted(methods))


def _detail_of(request: Request, code: HttpCode, error: HTTPException, headers: Mapping[str, str]) -> str:
    where = f"{request.method} {request.scope['path']}"
    routes: Sequence[Route] = request.app.state.routes
    if code is HttpCode.NOT_FOUND:
        return f"there is no resource {where}{missing_hint(request.method, request.scope['path'], routes)}"
    if code is HttpCode.METHOD_NOT_ALLOWED:
        hint = method_hint(request.method, request.scope["path"], routes)
        return f"{where}: this resource supports {headers['Allow']}{hint}"
    return error.detail


async def _defect(request: Request, _error: Exception) -> Response:
    request_id = request_id_of(request.scope)
    content = problem(HttpCode.INTERNAL, DEFECT, request_id)
    # The layer that answers defects is outside of the layer that adds this header to other responses.
    return problem_response(content, {REQUEST_ID_HEADER: request_id or ""})
