"""Addresses of nodes: a host and a port. Only values."""

from __future__ import annotations

from typing import NamedTuple


class Address(NamedTuple):
    """Where a node listens. Its text is `host:port`; an IPv6 address is in brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def address_of(text: str) -> Address:
    """Return the address in a text such as the end of a MOVED error. An empty host stays empty."""
    host, _, port = text.rpartition(":")
    return Address(host.removeprefix("[").removesuffix("]"), int(port))
