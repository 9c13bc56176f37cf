"""The route of the pages that explain problem codes, at the path in the member `type` of a problem."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

from fastapi import APIRouter, Path
from starlette.responses import Response

from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.http.pages import HTML, html_page
from tailrace.api.problems.help import code_of_slug
from tailrace.api.problems.help.page import problem_html
from tailrace.api.problems.table import PROBLEM_PAGES, HttpCode, RequestRefused

router = APIRouter(tags=["service"], route_class=DeferredRoute)

_PAGE: Final[dict[str, Any]] = {
    "responses": {
        "200": {
            "description": "An HTML page that explains the code.",
            "content": {HTML: {"schema": {"type": "string"}, "example": "<!doctype html>\n"}},
        }
    }
}

ProblemPath: TypeAlias = Annotated[
    str,
    Path(
        description="The code as in `type`: lower case with dashes. The code itself works too.",
        examples=["id-not-greater"],
    ),
]


@router.get(
    f"{PROBLEM_PAGES}{{code}}",
    **operation(
        "problem_page",
        "Explain a problem",
        media_type=HTML,
        extra=_PAGE,
        errors=(HttpCode.NOT_FOUND,),
        asks_store=False,
    ),
)
async def problem_page(code: ProblemPath) -> Response:
    """Return the page that says what a problem means, why it happens, and what to do."""
    found = code_of_slug(code)
    if found is None:
        raise RequestRefused(
            HttpCode.NOT_FOUND,
            f"no problem has the code {code!r:.80}; use the `code` of a problem, such as `id-not-greater`",
        )
    return html_page(problem_html(found))
