"""Suggestions for a request to a path or with a method that no route has, and for a client of Redis over
REST that has the wrong base URL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher, get_close_matches
from itertools import starmap
from typing import Final

from starlette.requests import Request
from starlette.routing import Route

COMMAND_PATH: Final = "/v1/command"
_API: Final = "/v1/"


def takes_redis_commands(path: str) -> bool:
    """Return whether a client for Redis over REST may have sent a request to `path`: a command path, or a
    path outside of the API."""
    return is_command_path(path) or not path.startswith(_API)


def is_command_path(path: str) -> bool:
    """Return whether `path` accepts commands."""
    return path.startswith(COMMAND_PATH)


def commands_are_elsewhere(request: Request) -> str:
    """Return the error line that says where to send commands, with the host that the client used."""
    base_url = str(request.base_url).rstrip("/")
    return (
        f"ERR {request.method} {request.scope['path']} does not accept Redis commands; send them to "
        f"{base_url}{COMMAND_PATH}: that is the base URL for clients of Redis over REST, and it accepts a "
        "POST with the command as a JSON array"
    )


_BEST_FIT: Final = 0.6
_VERB_FIT: Final = 0.5
_PREFIX: Final = "/v1"
_PARAMETER: Final = re.compile(r"\{(\w+)\}")


def missing_hint(method: str, path: str, routes: Sequence[Route]) -> str:
    """Return the suggestion that follows "there is no resource ..." in a 404."""
    if _is_known(whole := path.rstrip("/"), routes):
        return f"; did you mean `{whole}`, without the final slash?"
    if empty := _empty_names(path, routes):
        return f"; `{empty[0]}` is empty: a name has 1 to 512 bytes"
    for meant in (f"{_PREFIX}{path}", re.sub("/+", "/", path)):
        if _is_known(meant, routes):
            return f"; did you mean `{meant}`?"
    if close := _closest(path, [route.path for route in routes if method in (route.methods or ())]):
        return f"; did you mean `{close}`?"
    if _is_known(re.sub(r"/(?=[^/]*$)", "%2F", path), routes):
        return "; write a slash in a name as `%2F`"
    return "; GET /openapi.json lists all resources"


def method_hint(method: str, path: str, routes: Sequence[Route]) -> str:
    """Return the suggestion that follows the supported methods in a 405, or an empty string."""
    verbs = _verbs(path, routes) if method == "POST" else []
    if not verbs:
        return ""
    name, _, given = path.rpartition("/")[2].rpartition(":")
    alike = [verb for verb in verbs if given.startswith(verb) or (given and verb.startswith(given))]
    if name and (meant := alike or get_close_matches(given, verbs, 1, _VERB_FIT)):
        return f"; did you mean `:{meant[0]}`?"
    entries = f"{path}/entries"
    append = f"; to append an entry, POST to `{entries}`" if _is_known(entries, routes) else ""
    return f"; POST takes an action after the name: {', '.join(f'`:{verb}`' for verb in verbs)}{append}"


def _verbs(path: str, routes: Iterable[Route]) -> list[str]:
    """Return the actions of the resource whose name is the last segment of `path`."""
    found = []
    for route in routes:
        name, colon, verb = route.path.rpartition("}:")
        if colon and re.fullmatch(_pattern(f"{name}}}"), path):
            found.append(verb)
    return found


def _is_known(path: str, routes: Iterable[Route]) -> bool:
    return any(route.path_regex.match(path) for route in routes)


def _empty_names(path: str, routes: Iterable[Route]) -> list[str]:
    """Return the names of the path parameters that are empty in `path`, for the first route that fits."""
    for route in routes:
        match = re.fullmatch(_pattern(route.path, "*"), path)
        if match is not None and (empty := [name for name, value in match.groupdict().items() if not value]):
            return empty
    return []


def _pattern(template: str, times: str = "+") -> str:
    parts = _PARAMETER.split(template)
    named = (
        f"(?P<{part}>[^/]{times})" if number % 2 else re.escape(part) for number, part in enumerate(parts)
    )
    return "".join(named)


def _closest(path: str, templates: Iterable[str]) -> str:
    """Return the most similar template with the same number of segments, filled with the names in `path`; or
    an empty string."""
    given = path.split("/")
    split = [template.split("/") for template in templates]
    fitting = [wanted for wanted in split if len(wanted) == len(given) and _fit(wanted, given) >= _BEST_FIT]
    best = max(fitting, key=lambda wanted: _fit(wanted, given), default=[])
    return "/".join(starmap(_filled, zip(best, given, strict=False)))


def _fit(wanted: Iterable[str], given: Iterable[str]) -> float:
    """Return the similarity of the two fixed parts that differ most, from 0 to 1."""
    return min(SequenceMatcher(None, *pair).ratio() for pair in _fixed_parts(wanted, given))


def _fixed_parts(wanted: Iterable[str], given: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the fixed parts of both paths, pair by pair: whole segments, and actions."""
    for template, segment in zip(wanted, given, strict=True):
        if "}:" in template:
            yield template.rpartition(":")[2], segment.rpartition(":")[2]
        elif "{" not in template:
            yield template, segment


def _filled(template: str, segment: str) -> str:
    if "}:" in template:
        return f"{segment.rpartition(':')[0]}:{template.rpartition(':')[2]}"
    return segment if "{" in template else template
