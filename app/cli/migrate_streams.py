"""`tailrace migrate`: moves streams between two places. It owns the options, the printed lines and the exit
status."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Annotated, Final

import typer

from tailrace.app.cli.client_command import INTERRUPTED, fail
from tailrace.app.cli.migrate.addresses import opened, shown_address
from tailrace.app.cli.migrate.port import CannotMigrate, Place
from tailrace.app.cli.migrate.progress import Begun, default_path, metered
from tailrace.app.cli.migrate.reporting import (
    compared,
    print_comparison,
    print_conflicts,
    print_losses,
    print_settings,
    print_survey,
)
from tailrace.app.cli.migrate.running import Migration, Rules, Surveyed
from tailrace.app.cli.output import note, say
from tailrace.app.cli.server import MISREAD, misread

RETRY_S_DEFAULT: Final = 60.0


def migrate_streams(  # noqa: PLR0913 - one parameter an option
    source: Annotated[str, typer.Argument(metavar="FROM", help="The place to read.", show_default=False)],
    target: Annotated[str, typer.Argument(metavar="TO", help="The place to write.", show_default=False)],
    *,
    keys: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Which streams, a glob such as 'race:*'; repeat for each. Default: all streams.",
            show_default=False,
        ),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", help="Keep the target up to date until Ctrl-C or --until-quiet, then finish."
        ),
    ] = False,
    until_quiet: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="With --follow: finish when nothing has changed for so long.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be copied, replaced or lost; write nothing.")
    ] = False,
    verify_only: Annotated[
        bool, typer.Option("--verify-only", help="Only compare both places completely; write nothing.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete unrelated streams of the target that are in the way.")
    ] = False,
    accept_losses: Annotated[
        bool, typer.Option("--accept-losses", help="Copy even what the target cannot hold completely.")
    ] = False,
    from_secret: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A file with the token or the password for FROM.", show_default=False
        ),
    ] = None,
    to_secret: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A file with the token or the password for TO.", show_default=False
        ),
    ] = None,
    retry_for: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="How long a place may be unreachable.")
    ] = RETRY_S_DEFAULT,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The state file. Default: a hidden file in this directory.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Copy streams with their groups and pending entries, and compare both places.

    A place is a data directory, a server (http://, https://), a Redis or Valkey
    server (redis://, rediss://, unix://) or a Cluster (redis+cluster://). FROM
    is never changed. A data directory as TO must not be in use by a server.

    You can stop the command at any time, even by kill -9: the same command
    continues, without losses and without duplicates.

    Exit status: 0 if both places are equal; 1 if not; 2 for wrong arguments;
    130 after Ctrl-C.

    [bold]Examples[/bold]

      tailrace migrate redis://cache:6379 http://localhost:8080 --keys 'race:*'

      tailrace migrate redis://cache:6379 data --follow

      tailrace migrate data redis+cluster://node1:7000 --dry-run
    """
    _check(source, target, follow=follow, until_quiet=until_quiet is not None)
    if verify_only and (dry_run or follow or replace):
        raise typer.BadParameter("--verify-only writes nothing: leave out --dry-run, --follow and --replace")
    ends = shown_address(source), shown_address(target)
    rules = Rules([key.encode() for key in keys or ["*"]], replace, accept_losses, retry_for)
    is_reading = dry_run or verify_only
    path = state or default_path(*ends)
    try:
        begun = Begun(path, *ends)
        with (
            opened(source, from_secret) as reading,
            opened(target, to_secret, is_target=True, for_writing=not is_reading) as writing,
        ):
            say(f"from {reading.name} ({reading.engine})")
            say(f"to {writing.name} ({writing.engine})")
            task = Migration(reading, writing, rules, begun, _warn)
            if verify_only:
                _compare(task, task.keys(), is_complete=True)
                return
            with metered("Looking", 0) as meter:
                streams = task.survey(meter)
            _announce(streams, (reading, writing), accept_losses=accept_losses, dry_run=dry_run)
            if not dry_run:
                _copy(task, streams, follow=follow, until_quiet_s=until_quiet)
                begun.forget()
    except CannotMigrate as error:
        fail(str(error))
    except MISREAD as error:
        fail(f"FROM or TO gave an answer that is not understood: {misread(error)}; are both addresses right?")
    except KeyboardInterrupt:
        note(f"interrupted, the same command continues; the progress is in {path}")
        raise typer.Exit(INTERRUPTED) from None


def _check(source: str, target: str, *, follow: bool, until_quiet: bool) -> None:
    """Raise `typer.BadParameter` if arguments do not fit together."""
    if until_quiet and not follow:
        raise typer.BadParameter("--until-quiet is for --follow")
    if follow and "://" not in source:
        raise typer.BadParameter(
            "--follow needs a running server as FROM: a data directory is read as of one instant"
        )
    if shown_address(source) == shown_address(target):
        raise typer.BadParameter("FROM and TO are the same place")


def _announce(
    streams: Sequence[Surveyed], places: tuple[Place, Place], *, accept_losses: bool, dry_run: bool
) -> None:
    """Print what the survey found. Exits if something is in the way."""
    print_survey(streams, all_of_them=dry_run)
    print_settings(*places)
    losses = print_losses(streams)
    if print_conflicts(streams):
        fail("nothing was written")
    if losses and not accept_losses:
        fail("nothing was written; --accept-losses copies everything else")


def _copy(task: Migration, streams: Sequence[Surveyed], *, follow: bool, until_quiet_s: float | None) -> None:
    wanted = [each for each in streams if not each.is_left_out]
    with metered("Copying", sum(each.facts.length for each in wanted)) as meter:
        task.copy(wanted, meter, complete=not follow)
    say(f"copied {meter.summary}")
    if follow:
        _follow(task, until_quiet_s)
    _compare(task, task.copied_keys)
    if task.has_changed():
        fail("the source has changed meanwhile: stop producers and consumers, and run the same command again")
    task.set_retention()


def _follow(task: Migration, until_quiet_s: float | None) -> None:
    end = "" if until_quiet_s is None else f", or nothing changes for {until_quiet_s:g} s"
    with metered("Following", 0) as meter:
        with _interrupting() as stop:
            say(f"following; stop producers and consumers, then press Ctrl-C{end}")
            task.follow(meter, stop, until_quiet_s)
        task.finish(meter)
    say(f"followed {meter.summary}")


def _compare(task: Migration, keys: Sequence[bytes], *, is_complete: bool = False) -> None:
    """Compare the streams. Exits with status 1 if they differ. `is_complete`: the migration is over, so the
    retention has been set, too."""
    with metered("Comparing", 0) as meter:
        result = compared(task.verify(keys, meter, is_complete=is_complete))
    print_comparison(result, meter)
    if result.total:
        raise typer.Exit(1)


@contextmanager
def _interrupting() -> Iterator[Event]:
    """Yield an event that the first Ctrl-C sets. The second one interrupts as usual."""
    stop = Event()
    before = signal.getsignal(signal.SIGINT)

    def set_stop(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, set_stop)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _warn(line: str) -> None:
    note(line)
