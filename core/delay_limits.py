"""The limits of delays: entries that are scheduled, and retries that come later. This module holds numbers
only.

`GET /v1/limits` shows them with those of `core.limits`.
"""

from __future__ import annotations

from typing import Final

MIB: Final = 1024 * 1024

DELAY_MS_MAX: Final = 366 * 86_400_000
"""The longest delay of an entry or of a retry, in milliseconds: a year. A time in seconds or microseconds,
sent by mistake, is mostly beyond it or in the past."""

BACKOFF_FACTOR_MAX: Final = 100
"""The greatest factor of a backoff: with it, three deliveries lead from a second to hours."""

SCHEDULED_ENTRIES_MAX: Final = 100_000
SCHEDULED_BYTES_MAX: Final = 32 * MIB
"""Scheduled entries of one stream, and their bytes. They are in memory, and each checkpoint writes those of a
changed stream again, which takes about 0.05 s."""

SCHEDULED_ENTRIES_TOTAL_MAX: Final = 1_000_000
SCHEDULED_BYTES_TOTAL_MAX: Final = 512 * MIB
"""Scheduled entries of all streams together, and their bytes."""

SCHEDULED_PAGE_MAX: Final = 1_000
"""Scheduled entries in one page of their list."""

DUE_ENTRIES_PER_STEP: Final = 1_000
"""Entries that one step publishes or releases once their time has come: about 5 ms. The next step follows
after other requests."""

DUE_BYTES_PER_STEP: Final = 8 * MIB
"""Bytes of entries that one step publishes; the last entry may exceed it."""

DUE_PLACES_PER_STEP: Final = 200
"""Streams and groups that one such step examines."""
