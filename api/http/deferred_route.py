"""`DeferredRoute`: a route of FastAPI that is prepared when it is first used.

It owns when a route is prepared, and what a route needs before that. It never changes what a route does.

FastAPI builds the parameters and the models of a route when the route is declared: 1 to 5 ms for each of the
60 operations, most of which a server is never asked for. This route keeps the declaration and prepares itself
at its first request, or when the OpenAPI document is generated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import compile_path

_LAST = "app"
"""The attribute that FastAPI sets last: a route that has it is prepared."""


class DeferredRoute(APIRoute):
    """A route that FastAPI prepares when the first attribute beyond those of the matching is read."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Keep the declaration, and set what the router reads to find the route of a request."""
        self._options = options
        self.path = path
        self.endpoint = endpoint
        self.operation_id = options["operation_id"]
        self.methods = set(options["methods"])
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)

    def __getattr__(self, name: str) -> Any:
        """Prepare the route: Python calls this for an attribute that is missing.

        Two threads may prepare a route at the same time; both set equal values.
        """
        if _LAST in self.__dict__:
            raise AttributeError(name)
        super().__init__(self.path, self.endpoint, **self._options)
        return getattr(self, name)
