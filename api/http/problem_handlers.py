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
from tailrace.api.http.path_shim import raw_path_of
from tailrace.api.http.request_id import REQUEST_ID_HEADER
from tailrace.api.ports import StoreUnavailable
from tailrace.api.principals import Unauthenticated
from tailrace.api.problems.redis_over_rest import (
    commands_are_elsewhere,
    is_command_path,
    takes_redis_commands,
)
from tailrace.api.problems.route_hints import method_hint, missing_hint
from tailrace.api.problems.table import (
    DEFECT,
    HttpCode,
    RequestRefused,
    challenge,
    headers_of,
    problem,
    problem_of,
    problem_response,
    request_id_of,
    store_unavailable_headers,
    store_unavailable_problem,
    unauthenticated_problem,
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
    app.add_exception_handler(StreamError, _command_refused)
    app.add_exception_handler(RequestRefused, _request_refused)
    app.add_exception_handler(RequestValidationError, _parameters_refused)
    app.add_exception_handler(StoreUnavailable, _not_accepting)
    app.add_exception_handler(Unauthenticated, _unauthenticated)
    app.add_exception_handler(HTTPException, _not_routed)
    app.add_exception_handler(ClientDisconnect, client_gone)
    app.add_exception_handler(Exception, _defect)


async def _command_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, StreamError)
    return problem_response(problem_of(error, request_id_of(request.scope)), headers_of(error))


async def _request_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestRefused)
    return refusal_response(request, error)


def refusal_response(request: Request, error: RequestRefused) -> Response:
    """Return the response to a request that was refused before it became a command."""
    members = dict(error.members)
    if error.errors:
        members["errors"] = error.errors
    content = problem(error.code, error.detail, request_id_of(request.scope), **members)
    _add_error_line(request.scope, content)
    return problem_response(content, error.headers)


def _add_error_line(scope: Scope, content: dict[str, Any]) -> None:
    """Add a Redis error line to the problem on the paths of commands. Clients for Redis over REST show only
    that member."""
    if is_command_path(raw_path_of(scope)):
        content.setdefault("error", f"ERR {content['detail']}")


async def _parameters_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    declared = dict(_parameters(request.scope["route"].dependant))
    errors = [_parameter_error(item, declared) for item in error.errors()]
    detail = "; ".join(f"`{item['parameter']}`: {item['detail']}" for item in errors)
    return refusal_response(request, RequestRefused(HttpCode.INVALID_PARAMETER, detail, errors=errors))


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


async def _not_accepting(request: Request, error: Exception) -> Response:
    assert isinstance(error, StoreUnavailable)
    content = store_unavailable_problem(error, request_id_of(request.scope))
    _add_error_line(request.scope, content)
    return problem_response(content, store_unavailable_headers(error))


async def _unauthenticated(request: Request, error: Exception) -> Response:
    assert isinstance(error, Unauthenticated)
    return unauthenticated_response(request.scope, error)


def unauthenticated_response(scope: Scope, error: Unauthenticated) -> Response:
    """Return the response to an unauthenticated request."""
    content = unauthenticated_problem(error, request_id_of(scope))
    if takes_redis_commands(raw_path_of(scope)):
        content["error"] = f"NOAUTH {error.reason}"
    return problem_response(content, challenge(error))


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
