"""500 clients that send nothing or very slowly, and 100 WebSocket clients that never read: the server cuts
all of them, and serves an honest client in the meantime."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bench.hostile import attack
from bench.hostile_clients import DRIPPING, SILENT, UNREAD
from tailrace.core.limits import MIB
from tests.support.server_process import running_server
from tests.support.wire import request, wired

GROWTH_BYTES_MAX = 128 * MIB


def test_hostile_clients_are_cut_and_an_honest_one_is_served(tmp_path: Path) -> None:
    with running_server(tmp_path, "--durability", "none", "--log-level", "warning") as server:
        outcome = asyncio.run(attack(server.base_url))
        print(outcome.report())  # noqa: T201 - the figures
        counts = {kind: len(cuts) for kind, cuts in outcome.cuts_s.items()}
        assert counts == {"silent": SILENT, "dripping": DRIPPING, "unread": UNREAD}
        assert outcome.uncut_count == 0
        begin, peak, _ = outcome.resident_bytes
        assert peak - begin < GROWTH_BYTES_MAX
        assert "Traceback" not in server.log_text
        with wired(server.port) as wire:
            assert wire.ask(request("GET", "/readyz")).status == 200
