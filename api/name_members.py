"""Names of streams, groups and consumers as members of JSON objects.

Names are any bytes. They are written as text, or in base64 if one of them is not UTF-8.
"""

from __future__ import annotations

from base64 import b64encode


def named(**names: bytes | None) -> dict[str, str | None]:
    """Return JSON members for `names`: as text if all of them are UTF-8; otherwise all in base64, with the
    member `encoding`. O(bytes)."""
    try:
        return {member: None if name is None else name.decode() for member, name in names.items()}
    except UnicodeDecodeError:
        encoded = {
            member: None if name is None else b64encode(name).decode() for member, name in names.items()
        }
        return {**encoded, "encoding": "base64"}
