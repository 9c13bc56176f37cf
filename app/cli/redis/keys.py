"""Finds keys by prefix for completion at the prompt and in the shell, with a short time limit."""

from __future__ import annotations

from typing import Final

from tailrace.app.cli.client.http_client import Server, ServerProblem

KEYS_MAX: Final = 200
ANSWER_WITHIN_S: Final = 0.5
"""The time limit of the request in seconds."""

_GLOB: Final = str.maketrans({character: f"\\{character}" for character in "*?[]\\^"})


def matching_keys(server: Server, prefix: str) -> list[str]:
    """Return keys that begin with `prefix`, sorted; empty if the server cannot be reached.

    One SCAN step finds them, so a large keyspace may give only some of its matches.
    """
    command = ["SCAN", "0", "MATCH", f"{prefix.translate(_GLOB)}*", "COUNT", str(KEYS_MAX)]
    try:
        answer = server.request("POST", "/v1/command", body=command, timeout_s=ANSWER_WITHIN_S)
    except ServerProblem:
        return []
    keys = answer.json()["result"][1]
    return sorted(key for key in keys if isinstance(key, str))
