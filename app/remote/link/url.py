"""The URL of a store, and addresses of nodes: which engine, where, and with which credentials.

It owns the grammar of `--store` and its error messages. No message and no representation contains a password.
"""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, unquote


class Address(NamedTuple):
    """Where a node listens. Its text is `host:port`; an IPv6 address is in brackets. The host of a Unix
    socket is its path, and its port is 0."""

    host: str
    port: int

    def __str__(self) -> str:
        if not self.port:
            return self.host
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def address_of(text: str) -> Address:
    """Return the address in a text such as the end of a MOVED error. An empty host stays empty."""
    if text.startswith("/"):
        return Address(text, 0)
    host, _, port = text.rpartition(":")
    return Address(host.removeprefix("[").removesuffix("]"), int(port))


Kind: TypeAlias = Literal["single", "sentinel", "cluster"]

SCHEME: Final = re.compile(r"(redis|rediss|valkey|valkeys)(?:\+(sentinel|cluster))?")
SCHEMES: Final = (
    "redis://, rediss:// (TLS), redis+sentinel://, rediss+sentinel://, redis+cluster://, rediss+cluster://,"
    " and the same with valkey in place of redis"
)
PORTS: Final = {"single": 6379, "cluster": 6379, "sentinel": 26379}
PORT_MAX: Final = 65535
DATABASE_MAX: Final = 1_000_000
TLS_OPTIONS: Final = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs", "ssl_check_hostname")
SENTINEL_OPTIONS: Final = ("sentinel_username", "sentinel_password")


class BadStoreUrl(ValueError):
    """The URL of a store is invalid; the message says why, without credentials."""


@dataclass(frozen=True)
class StoreUrl:
    """A parsed URL. `addresses`: the node, the seeds of a Cluster, or the Sentinels. `service`: Sentinel's
    name of the master. `tls`: None without TLS. Its text has no credentials.
    """

    scheme: str
    kind: Kind
    addresses: tuple[Address, ...]
    username: str = ""
    password: str = field(default="", repr=False)
    service: str = ""
    database: int = 0
    sentinel_username: str = ""
    sentinel_password: str = field(default="", repr=False)
    tls: ssl.SSLContext | None = field(default=None, repr=False)

    def __str__(self) -> str:
        path = "/".join(part for part in (self.service, str(self.database or "")) if part)
        return f"{self.scheme}://{','.join(map(str, self.addresses))}" + (f"/{path}" if path else "")


def parse_store_url(text: str) -> StoreUrl:
    """Return the parts of a URL. Raises `BadStoreUrl`."""
    scheme, separator, rest = text.partition("://")
    matched = SCHEME.fullmatch(scheme)
    if not separator or matched is None:
        shown = f"{scheme}://" if separator and scheme.isascii() else "it"
        raise BadStoreUrl(f"the URL of a store must start with {SCHEMES}; {shown} does not")
    kind: Kind = matched[2] or "single"  # type: ignore[assignment]
    rest, _, query = rest.partition("?")
    authority, _, path = rest.partition("/")
    userinfo, _, hosts = authority.rpartition("@")
    username, _, password = (unquote(part) for part in _split(userinfo))
    service, database = _path(kind, path)
    is_tls = matched[1] in {"rediss", "valkeys"}
    options = _options(kind, query, TLS_OPTIONS if is_tls else ())
    return StoreUrl(
        scheme=scheme,
        kind=kind,
        addresses=_addresses(kind, hosts),
        username=username,
        password=password,
        service=service,
        database=database,
        sentinel_username=options.get("sentinel_username", ""),
        sentinel_password=options.get("sentinel_password", ""),
        tls=_tls(options) if is_tls else None,
    )


def _split(userinfo: str) -> tuple[str, str, str]:
    """Return user, colon and password. A text without a colon is a user; that alone is not enough."""
    username, colon, password = userinfo.partition(":")
    if userinfo and not colon:
        raise BadStoreUrl(
            "credentials in the URL of a store are user:password@ or :password@; the colon is missing"
        )
    if username and not password:
        raise BadStoreUrl(f"the URL of a store names the user {unquote(username)!r} without a password")
    return username, colon, password


def _addresses(kind: Kind, hosts: str) -> tuple[Address, ...]:
    if not hosts:
        raise BadStoreUrl("the URL of a store names no host; write for example redis://127.0.0.1:6379")
    addresses = tuple(_address(kind, host) for host in hosts.split(","))
    if kind == "single" and len(addresses) > 1:
        raise BadStoreUrl(
            f"the URL of a store names {len(addresses)} hosts: only redis+cluster:// and"
            " redis+sentinel:// take several"
        )
    return addresses


def _address(kind: Kind, text: str) -> Address:
    matched = re.fullmatch(r"(\[[0-9A-Fa-f:.%\w]+\]|[^:\[\]@\s]+)(?::(\d{1,5}))?", text)
    if matched is None:
        raise BadStoreUrl(
            f"{text!r} in the URL of a store is no host:port; write an IPv6 address in brackets, and"
            " percent-encode the characters @ : / ? # of a password"
        )
    port = int(matched[2] or PORTS[kind])
    if not 1 <= port <= PORT_MAX:
        raise BadStoreUrl(f"the port {port} in the URL of a store must be 1 to {PORT_MAX}")
    return Address(matched[1].strip("[]"), port)


def _path(kind: Kind, path: str) -> tuple[str, int]:
    """Return the service of a Sentinel, and the database."""
    service = ""
    if kind == "sentinel":
        service, _, path = path.partition("/")
        if not service:
            raise BadStoreUrl(
                "a URL with +sentinel ends with the name of the master, for example"
                " redis+sentinel://10.0.0.1:26379,10.0.0.2:26379/mymaster"
            )
    if path and not (path.isascii() and path.isdigit() and int(path) <= DATABASE_MAX):
        raise BadStoreUrl(f"the database {path!r} in the URL of a store must be a number, for example /0")
    database = int(path or 0)
    if database and kind == "cluster":
        raise BadStoreUrl(f"a Cluster has only the database 0, and the URL of the store names {database}")
    return unquote(service), database


def _options(kind: Kind, query: str, tls_options: tuple[str, ...]) -> dict[str, str]:
    allowed = tls_options + (SENTINEL_OPTIONS if kind == "sentinel" else ())
    options = dict(parse_qsl(query, keep_blank_values=True))
    for name in options:
        if name not in allowed:
            raise BadStoreUrl(
                f"the URL of a store has the unknown option {name!r}; "
                + (f"allowed here: {', '.join(allowed)}" if allowed else "options need TLS, as in rediss://")
            )
    return options


def _tls(options: dict[str, str]) -> ssl.SSLContext:
    for name in ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile"):
        if name in options and not Path(options[name]).is_file():
            raise BadStoreUrl(f"{name} in the URL of a store names no file: {options[name]!r}")
    try:
        context = ssl.create_default_context(cafile=options.get("ssl_ca_certs"))
        if "ssl_certfile" in options:
            context.load_cert_chain(options["ssl_certfile"], options.get("ssl_keyfile"))
    except ssl.SSLError as error:
        raise BadStoreUrl(
            f"a certificate or key in the URL of a store cannot be read: {error.reason}"
        ) from None
    verifies = _choice(options, "ssl_cert_reqs", {"required": True, "none": False})
    checks_host = _choice(options, "ssl_check_hostname", {"true": True, "false": False})
    context.check_hostname = verifies and checks_host
    if not verifies:
        context.verify_mode = ssl.CERT_NONE
    return context


def _choice(options: dict[str, str], name: str, choices: dict[str, bool]) -> bool:
    """Return the meaning of an option; the first choice is the default."""
    value = options.get(name, next(iter(choices)))
    if value not in choices:
        raise BadStoreUrl(f"{name}={value!r} in the URL of a store is unknown; allowed: {', '.join(choices)}")
    return choices[value]
