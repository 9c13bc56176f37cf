"""Names of streams, groups and consumers as members of JSON objects.

It owns their written form: text, or base64 where one of them is not UTF-8. No byte is lost.
"""

from __future__ import annotations

from base64 import b64encode


def named(**names: bytes | None) -> dict[str, str | None]:
    """JSON members for `names`: text where all of them are UTF-8, else all base64 and marked so."""
    try:
        return {member: None if name is None else name.decode() for member, name in names.items()}
    except UnicodeDecodeError:
        encoded = {
            member: None if name is None else b64encode(name).decode() for member, name in names.items()
        }
        return {**encoded, "encoding": "base64"}
