"""The limits of groups that deliver in order by key, with their reasons. `GET /v1/limits` shows them.

They bound what the order of one group keeps in memory: about 25 MiB for each of the first two.
"""

from __future__ import annotations

from typing import Final

HELD_ENTRIES_MAX: Final = 100_000
"""Entries that one group holds because their key is in flight. At this number the group reads no further
until one of them is delivered or deleted: then one slow key holds back the others, too."""

KEYS_IN_FLIGHT_MAX: Final = 100_000
"""Entries with a key that one group has in flight. At this number the group delivers no further ones until
some are acknowledged."""

ORDERED_ENTRIES_MAX: Final = 10_000
"""Pending and held entries whose keys are read when `order_by` is set for their group: each takes up to 10
us, so less than 0.1 s of the writer's time together."""

ORDER_KEY_BYTES_MAX: Final = 64
"""The longest value that is kept as it is. A longer one is kept as its digest of this many bytes and one
more, so that keys take little memory, whatever clients send."""
