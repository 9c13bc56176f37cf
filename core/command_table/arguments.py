"""The arguments that several commands share, as `help` shows them. Owns texts only."""

from __future__ import annotations

from typing import Final

POLICY: Final = "[KEEPREF|DELREF|ACKED]"
TRIM: Final = "MAXLEN|MINID [=|~] threshold [LIMIT count]"
IDS: Final = "IDS numids id [id ...]"
READ_LIMITS: Final = "[COUNT count] [MAXCOUNT count] [MAXSIZE bytes] [BLOCK milliseconds]"
READ_STREAMS: Final = "STREAMS key [key ...] id [id ...]"
