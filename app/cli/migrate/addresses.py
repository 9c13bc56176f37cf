"""Opens a place by its address: a directory, the URL of a server, or the URL of a Cluster.

It owns the forms of addresses, and removes secrets from the names that are shown and stored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

import httpx
import typer

from tailrace.app.cli.client_command import TOKEN_VARIABLE, checked_url, secret_from
from tailrace.app.cli.migrate.port import Place
from tailrace.app.cli.server import Server

if TYPE_CHECKING:
    from tailrace.app.remote.link.url import StoreUrl

_REDIS: Final = re.compile(r"(?:redis|valkey)(s?)(\+cluster)?://(.*)", re.DOTALL)
_UNIX: Final = re.compile(r"unix://(?:([^/@]*)@)?(/[^?]*)(?:\?db=(\d+))?")
_PASSWORD: Final = re.compile(r"//[^/@]*@")
_KINDS: Final = (
    "a data directory, http:// or https:// (Tailrace), redis://, rediss:// or unix:// (Redis, Valkey), "
    "redis+cluster:// or rediss+cluster:// (a Cluster); valkey is allowed in place of redis"
)


def shown_address(address: str) -> str:
    """Return an address without user and password, in one form for each place."""
    if "://" in address:
        return _PASSWORD.sub("//", address).rstrip("/")
    return str(Path(address).resolve())


@contextmanager
def opened(
    address: str, secret_file: Path | None, *, is_target: bool = False, for_writing: bool = False
) -> Iterator[Place]:
    """Open the place at `address`; `secret_file` has its token or password. `for_writing`: only a
    target is written, unless the command only looks.

    Raises `typer.BadParameter` for an unknown form, otherwise `CannotMigrate`.
    """
    if "://" not in address:
        place: AbstractContextManager[Place] = _directory(
            Path(address), is_target=is_target, for_writing=for_writing
        )
    elif address.startswith(("http://", "https://")):
        place = _tailrace(address, secret_from(os.environ.get(TOKEN_VARIABLE), secret_file))
    else:
        place = closing(_redis(address, secret_from(None, secret_file)))
    with place as found:
        yield found


@contextmanager
def _directory(directory: Path, *, is_target: bool, for_writing: bool) -> Iterator[Place]:
    if for_writing:
        from tailrace.app.cli.migrate.directory_place import served  # noqa: PLC0415 - see `_redis`
        from tailrace.app.cli.migrate.tailrace_place import TailracePlace  # noqa: PLC0415

        with served(directory) as server:
            yield TailracePlace(str(directory), server)
        return
    from tailrace.app.cli.migrate.directory_place import DirectoryPlace  # noqa: PLC0415

    with closing(DirectoryPlace(directory, may_be_empty=is_target)) as place:
        yield place


@contextmanager
def _tailrace(address: str, token: str | None) -> Iterator[Place]:
    from tailrace.app.cli.migrate.tailrace_place import TailracePlace  # noqa: PLC0415 - see `_redis`

    url = httpx.URL(checked_url(address))
    if url.userinfo:
        raise typer.BadParameter("a token does not belong into a URL: use a token file or TAILRACE_TOKEN")
    with Server(address, token) as server:
        yield TailracePlace(shown_address(address), server)


def _redis(address: str, secret: str | None) -> Place:
    # Imported here, so that a migration loads only the modules of its two kinds of places.
    from tailrace.app.cli.migrate.engine_place import EnginePlace  # noqa: PLC0415
    from tailrace.app.remote.link.url import BadStoreUrl  # noqa: PLC0415

    name = shown_address(address)
    try:
        return EnginePlace(name, _engine_url(address, secret))
    except BadStoreUrl as error:
        raise typer.BadParameter(f"{name!r}: {error}") from None


def _engine_url(address: str, secret: str | None) -> StoreUrl:
    """Return the parts of the address of an engine; `secret` is its password. Raises `BadStoreUrl`."""
    from tailrace.app.remote.link.url import Address, StoreUrl, parse_store_url  # noqa: PLC0415

    if (found := _UNIX.fullmatch(address)) is not None:
        user, _, password = (unquote(part) for part in (found[1] or "").partition(":"))
        socket, database = Address(found[2], 0), int(found[3] or 0)
        return StoreUrl("unix", "single", (socket,), user, secret or password, database=database)
    if _REDIS.fullmatch(address) is None:
        raise typer.BadParameter(
            f"{shown_address(address)!r} is not an address of a known kind: use {_KINDS}"
        )
    if secret is not None:
        scheme, _, rest = address.partition("://")
        authority, slash, path = rest.partition("/")
        userinfo, _, host = authority.rpartition("@")
        user = userinfo.partition(":")[0]
        address = f"{scheme}://{user}:{quote(secret, safe='')}@{host}{slash}{path}"
    return parse_store_url(address.rstrip("/"))
