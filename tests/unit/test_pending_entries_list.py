"""Many ids at once in the pending entries list and the log: the same answers as one by one, in bounded work."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, SupportsIndex

import pytest

from core.block import NodeLimits
from core.block_cache import BlockCache
from core.entry_log import EntryLog
from core.group import Group
from core.handlers.claims import LOOKED_UP_TOGETHER
from core.invariants import check_group, check_log
from core.consumer import Consumer
from core.stream_id import ZERO_ID
from tests.support.engine_calls import engine_with  # noqa: F401
