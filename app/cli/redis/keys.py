"""Keys that begin as somebody typed, for a prompt's and a shell's completion. It keeps nobody waiting."""

from __future__ import annotations

from typing import Final

from tailrace.app.cli.client.http_client import Server, ServerProblem

KEYS_MAX: Final = 200
ANSWER_WITHIN_S: Final = 0.5

_GLOB: Final = str.maketrans({character: f"\\{character}" for character in "*?[]\\^"})


def matching_keys(server: Server, prefix: str) -> list[str]:
    """Keys that begin with `prefix`, some of them where there are many; none where the server is silent."""
    command = ["SCAN", "0", "MATCH", f"{prefix.translate(_GLOB)}*", "COUNT", str(KEYS_MAX)]
    try:
        answer = server.request("POST", "/v1/command", body=command, timeout_s=ANSWER_WITHIN_S)
    except ServerProblem:
        return []
    keys = answer.json()["result"][1]
    return sorted(key for key in keys if isinstance(key, str))
