"""An import shows its progress on a terminal, and only there."""

from __future__ import annotations

from pathlib import Path

from tests.cli.shell import Terminal, shell


def test_a_bar_with_rows_and_rate_is_shown_on_a_terminal_alone(base_url: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.ndjson"
    path.write_bytes(b'{"rider":"Castilla"}\n' * 500)
    arguments = ("import", str(path), "--chunk", "1", "--stream")
    with Terminal(base_url, *arguments, "progress:terminal", state=tmp_path) as terminal:
        terminal.shown(" rows/s ")
        terminal.shown("500 rows, 10.5 kB in")
        assert terminal.wait() == 0
    piped = shell(base_url, *arguments, "progress:pipe")
    assert piped.stderr == b""
    assert piped.stdout.startswith(b"progress:pipe: 500 rows, 10.5 kB in")
