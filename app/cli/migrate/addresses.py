"""Opens a place by its address: a directory, the URL of a server, or the URL of a Cluster.

It owns the forms of addresses, and removes secrets from the names that are shown and stored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Final

import httpx
import typer

from tailrace.app.cli.client_command import TOKEN_VARIABLE, checked_url, secret_from
from tailrace.app.cli.server import Server
from tailrace.app.cli.migrate.port import CannotMigrate, Place

_REDIS: Final = re.compile(r"(?:redis|valkey)(s?)(\+cluster)?://(.*)", re.DOTALL)
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
        from tailrace.app.cli.migrate.served_directory import served  # noqa: PLC0415 - see `_redis`
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
    from redis.connection import parse_url  # noqa: PLC0415

    from tailrace.app.cli.migrate.cluster_place import ClusterPlace  # noqa: PLC0415
    from tailrace.app.cli.migrate.redis_place import RedisPlace  # noqa: PLC0415

    name, found = shown_address(address), _REDIS.fullmatch(address)
    if found is None and not address.startswith("unix://"):
        raise typer.BadParameter(f"{name!r} is not an address of a known kind: use {_KINDS}")
    try:
        options = parse_url(f"redis{found[1]}://{found[3]}" if found else address)  # type: ignore[no-untyped-call]
    except ValueError as error:
        raise typer.BadParameter(f"{name!r}: {error}") from None
    if secret is not None:
        options["password"] = secret
    is_cluster = bool(found and found[2])
    if is_cluster and options.get("db"):
        raise CannotMigrate(f"{name}: a Cluster has only database 0")
    return ClusterPlace(name, options) if is_cluster else RedisPlace(name, options)
