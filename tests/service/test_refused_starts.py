"""If the system prevents a start, the error names the cause, does not claim damage, and nothing changes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tailrace.app.process_tuning import OPEN_FILES_MIN
from tailrace.core.storage.data_files import BOOT_NAME, FILE_NAME
from tests.crash.test_states_of_a_directory import LOGGED, STORED, contents, make
from tests.support.server_process import TAILRACE, running_server, tailrace

DISK_BYTES = 4 * 1024 * 1024


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own that a test can fill."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", str(place)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only a user who may mount can have a full disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)  # noqa: S607 - the system's


def fill_up(disk: Path) -> Path:
    """Take all room that is left."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            return ballast
    raise AssertionError("the disk is not full")


def limited(limit: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one command under a limit of the shell's `ulimit`."""
    words = ["sh", "-c", f'ulimit {limit}; exec "$0" "$@"', str(TAILRACE), *arguments]
    return subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)


def assert_no_damage(result: subprocess.CompletedProcess[str], sentence: str) -> None:
    assert result.returncode == 1, result.stderr
    assert sentence in result.stderr
    assert "is damaged" not in result.stderr
    assert result.stderr.count("\n") == 1, result.stderr


def test_a_start_on_a_full_disk_is_refused_as_that_and_works_when_there_is_room(small_disk: Path) -> None:
    data = small_disk / "data"
    make(data)
    for name in (f"{FILE_NAME}-shm", BOOT_NAME):
        (data / name).unlink()
    ballast = fill_up(small_disk)
    before = contents(data)
    result = tailrace("serve", "--port", "0", "--data-dir", str(data))
    assert_no_damage(result, f"no space is left for {data}: 0.0 MiB are free")
    assert contents(data) == before
    ballast.unlink()
    with running_server(small_disk):
        pass
    assert f"{STORED + LOGGED} entries" in tailrace("check", str(data)).stdout


def test_a_first_start_on_a_full_disk_is_refused_as_that(small_disk: Path) -> None:
    ballast = fill_up(small_disk)
    data = small_disk / "data"
    assert_no_damage(tailrace("serve", "--port", "0", "--data-dir", str(data)), "no space is left for")
    ballast.unlink()
    with running_server(small_disk):
        pass


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_a_copy_to_a_full_disk_names_that_disk_and_leaves_nothing(
    small_disk: Path, tmp_path: Path, command: str
) -> None:
    make(tmp_path / "data")
    fill_up(small_disk)
    target = small_disk / "copy"
    assert_no_damage(tailrace(command, str(tmp_path / "data"), str(target)), f"no space is left for {target}")
    assert [path.name for path in small_disk.iterdir()] == ["ballast"]


def test_a_salvage_to_a_full_disk_names_that_disk(small_disk: Path, tmp_path: Path) -> None:
    make(tmp_path / "data")
    fill_up(small_disk)
    target = small_disk / "copy"
    result = tailrace("check", "--salvage", str(target), str(tmp_path / "data"))
    assert_no_damage(result, f"no space is left for {target}")


@pytest.mark.parametrize("command", [("serve", "--port", "0", "--data-dir"), ("check",)])
def test_files_that_may_not_grow_are_no_damage(tmp_path: Path, command: tuple[str, ...]) -> None:
    data = tmp_path / "data"
    make(data)
    before = contents(data)
    assert_no_damage(limited("-f 4", *command, str(data)), "cannot use")
    assert contents(data) == before


@pytest.mark.parametrize("files_max", [5, 6])
def test_too_few_file_descriptors_for_a_check_are_no_damage(tmp_path: Path, files_max: int) -> None:
    data = tmp_path / "data"
    make(data)
    before = contents(data)
    assert_no_damage(limited(f"-n {files_max}", "check", str(data)), "ulimit -n")
    assert contents(data) == before


@pytest.mark.parametrize("files_max", [8, OPEN_FILES_MIN - 1])
def test_a_server_with_too_few_file_descriptors_does_not_start(tmp_path: Path, files_max: int) -> None:
    data = tmp_path / "data"
    make(data)
    before = contents(data)
    result = limited(f"-n {files_max}", "serve", "--port", "0", "--data-dir", str(data))
    assert_no_damage(result, f"may have {files_max} files open, and the server needs {OPEN_FILES_MIN}")
    assert contents(data) == before


def test_a_link_to_a_directory_that_is_missing_is_named_as_such(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "missing")
    result = tailrace("serve", "--port", "0", "--data-dir", str(link))
    assert_no_damage(result, "it may be a symbolic link to a missing directory")
