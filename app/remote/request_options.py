"""How safe a write and how fresh a read of one request must be: the headers `Min-Replicas` and `Consistency`.

It owns the two headers and the context that carries their values to the link. A request without them has the
defaults of the server.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final, Literal, NamedTuple, cast

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from tailrace.api.problems.table import HttpCode, problem, problem_response, request_id_of
from tailrace.app.remote.link.port import Consistency

REPLICAS_MAX: Final = 16
"""The greatest `Min-Replicas`: no engine has more replicas of one master in practice."""

MIN_REPLICAS: Final = "Min-Replicas"
CONSISTENCY: Final = "Consistency"
_CONSISTENCIES: Final = ("strong", "eventual")


class RequestOptions(NamedTuple):
    """The options of one request. `min_replicas` None: the server's setting."""

    min_replicas: int | None = None
    consistency: Consistency = "strong"


_DEFAULTS: Final = RequestOptions()
_current: Final[ContextVar[RequestOptions]] = ContextVar("request_options", default=_DEFAULTS)


def current_options() -> RequestOptions:
    """Return the options of the request that runs now."""
    return _current.get()


class BadOption(ValueError):
    """A header has a value that is not allowed. `name`: the header."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name


class OptionHeaders:
    """ASGI middleware that reads the two headers, and refuses other values with 400."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the request under its options."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            options = options_of(Headers(scope=scope))
        except BadOption as error:
            content = problem(
                HttpCode.INVALID_PARAMETER, str(error), request_id_of(scope), argument=error.name
            )
            await problem_response(content)(scope, receive, send)
            return
        token = _current.set(options)
        try:
            await self._app(scope, receive, send)
        finally:
            _current.reset(token)


def options_of(headers: Headers) -> RequestOptions:
    """Return the options that the headers name. Raises `BadOption`."""
    replicas, consistency = headers.get(MIN_REPLICAS), headers.get(CONSISTENCY)
    if replicas is None and consistency is None:
        return _DEFAULTS
    return RequestOptions(
        None if replicas is None else _replicas(replicas),
        "strong" if consistency is None else _consistency(consistency),
    )


def _replicas(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) <= REPLICAS_MAX:
        return int(text)
    raise BadOption(MIN_REPLICAS, f"{MIN_REPLICAS} is {text!r}; it must be a number from 0 to {REPLICAS_MAX}")


def _consistency(text: str) -> Consistency:
    if text in _CONSISTENCIES:
        return cast("Literal['strong', 'eventual']", text)
    raise BadOption(CONSISTENCY, f"{CONSISTENCY} is {text!r}; it must be strong or eventual")
