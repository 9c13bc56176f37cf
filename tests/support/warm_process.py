"""Processes of `tailrace` that start in a hundredth of the time: forks of one process with its imports.

Most of the time of a short command, and of the start of a server, are imports. So a test process starts one
template, which imports the libraries and the server, and forks for each process that a test asks for. A fork
has its own arguments, environment, directory, standard streams, signals and exit status, and imports the
modules of the command line itself. `/proc/PID/cmdline` is that of the template.

This module owns the template and the processes that it forks. It never decides how a command is called.
"""

from __future__ import annotations

import io
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
IMPORTED: Final = (
    "typer.rich_utils",
    "httpx",
    "tailrace_client.session",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
    "tailrace.app.main",
)
"""What the template imports. The command line is not among it: its modules read the environment."""

_NUMBER: Final = struct.Struct("q")
_REQUEST_BYTES_MAX: Final = 1 << 20


class WarmProcess:
    """A running process, with the methods of `subprocess.Popen` that tests need.

    `arguments`: those after the name of the program. `stdin`, `stdout`, `stderr`: descriptors, which the
    caller closes; without `stdin`, the input is empty.
    """

    def __init__(
        self,
        arguments: Sequence[str | bytes],
        environment: Mapping[str, str],
        *,
        stdin: int | None = None,
        stdout: int,
        stderr: int,
    ) -> None:
        self.args = list(arguments)
        self.returncode: int | None = None
        self._status, theirs = socket.socketpair()
        request = pickle.dumps((self.args, dict(environment), str(Path.cwd())))
        with theirs, Path(os.devnull).open("rb") as nothing:
            given = nothing.fileno() if stdin is None else stdin
            socket.send_fds(_template(), [request], [theirs.fileno(), given, stdout, stderr])
        (self.pid,) = _NUMBER.unpack(self._status.recv(_NUMBER.size))

    def poll(self) -> int | None:
        """Return the exit status, or the negative signal that ended the process; None while it runs."""
        return self.returncode if self.returncode is not None else self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, and return as `poll` does. Raises `subprocess.TimeoutExpired`."""
        code = self.returncode if self.returncode is not None else self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def _ended(self, timeout: float | None) -> int | None:
        self._status.settimeout(timeout)
        try:
            (self.returncode,) = _NUMBER.unpack(self._status.recv(_NUMBER.size))
        except (BlockingIOError, TimeoutError):
            return None
        self._status.close()  # until now no other process could get its id
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal. Does nothing if the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask the process to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process."""
        self.send_signal(signal.SIGKILL)


def run(
    arguments: Sequence[str | bytes], environment: Mapping[str, str], *, stdin: bytes = b"", within_s: float
) -> subprocess.CompletedProcess[bytes]:
    """Run one command in pipes to its end. Raises `subprocess.TimeoutExpired`, and kills the command then."""
    (their_input, our_input), (our_output, their_output), (our_errors, their_errors) = (
        os.pipe() for _ in range(3)
    )
    process = WarmProcess(arguments, environment, stdin=their_input, stdout=their_output, stderr=their_errors)
    for each in (their_input, their_output, their_errors):
        os.close(each)
    with ThreadPoolExecutor(3) as pool:
        pool.submit(_write, our_input, stdin)
        printed, errors = pool.submit(_read, our_output), pool.submit(_read, our_errors)
        try:
            code = process.wait(within_s)
        finally:
            process.kill()
        return subprocess.CompletedProcess(process.args, code, printed.result(), errors.result())


def _write(descriptor: int, content: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(descriptor, "wb", buffering=0) as pipe:
        at = 0
        while at < len(content):
            at += pipe.write(content[at:])


def _read(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as pipe:
        return pipe.read()


@cache
def _template() -> socket.socket:
    """Start the template of this test process. It ends when this process has ended."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        number = theirs.fileno()
        program = f"from {__name__} import serve; serve({number})"
        subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[number],
        )
    return ours


# --- in the template -------------------------------------------------------------------------------------


def serve(number: int) -> None:
    """Fork for each request on the socket with this descriptor. Returns in forks only: as the program."""
    for each in IMPORTED:
        import_module(each)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no process waits for the watchers
    requests = socket.socket(fileno=number)
    while True:
        request, descriptors, _, _ = socket.recv_fds(requests, _REQUEST_BYTES_MAX, 4)
        if not request:
            os._exit(0)
        if not os.fork():
            break
        for descriptor in descriptors:
            os.close(descriptor)
    requests.close()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    status, *streams = descriptors
    program = os.fork()
    if program:
        _watch(program, status, streams)
    os.close(status)
    _become(streams, *pickle.loads(request))  # noqa: S301 - of this module
    import_module("tailrace.app.cli").main()


def _watch(program: int, descriptor: int, streams: Sequence[int]) -> None:
    """Report the process id and the end of a program. Its id stays its own until the report was read."""
    for each in streams:
        os.close(each)
    with suppress(OSError), socket.socket(fileno=descriptor) as status:
        status.sendall(_NUMBER.pack(program))
        ended = os.waitid(os.P_PID, program, os.WEXITED | os.WNOWAIT)
        assert ended is not None
        was_killed = ended.si_code != os.CLD_EXITED
        status.sendall(_NUMBER.pack(-ended.si_status if was_killed else ended.si_status))
        status.recv(1)
    os._exit(0)


def _become(
    streams: Sequence[int], arguments: Sequence[str | bytes], environment: Mapping[str, str], directory: str
) -> None:
    """Take over what distinguishes a program that the tests start."""
    for number, each in enumerate(streams):
        os.dup2(each, number)
        os.close(each)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    program = Path(sys.executable).with_name("tailrace")
    sys.argv = [str(program), *map(os.fsdecode, arguments)]
    sys.path[0] = str(program.parent)
    unbuffered = bool(environment.get("PYTHONUNBUFFERED"))
    for name, number, mode in (("stdin", 0, "rb"), ("stdout", 1, "wb"), ("stderr", 2, "wb")):
        before = getattr(sys, name)
        buffering = 0 if unbuffered and mode == "wb" else -1
        stream = io.TextIOWrapper(
            os.fdopen(number, mode, buffering=buffering, closefd=False),
            before.encoding,
            before.errors,
            line_buffering=name == "stderr" or os.isatty(number),
            write_through=not buffering,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
