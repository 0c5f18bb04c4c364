"""Engines: programs that do works of this one, on this machine or a cluster.

    with mayfly.Engine("processes", workers=4) as engine:
        squares = engine.map(square, range(100))
        results = mayfly.evaluate(hexapod, gaits, 30, engine=engine)

Functions and arguments travel by pickle, or by cloudpickle where it is installed. A worker that is
lost is replaced and its work repeated; slow ones are not waited for; so functions must depend on
their arguments alone.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pickle
import secrets
import sys
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from mayfly import errors
from mayfly._native import call, ffi, lib, output, text
from mayfly._shown import Shown
from mayfly.context import Context

__all__ = ["Engine", "WorkError"]


def version() -> bytes:
    """What master and workers must have in common."""
    major, minor = sys.version_info[:2]
    return f"{text(lib.mf_version())} Python {major}.{minor}".encode()


class WorkError(errors.MayflyError):
    """A function failed in a worker; the message holds its traceback."""


# ---- the master ----------------------------------------------------------------------------------


def _processes(address: str, workers: int, threads: int) -> tuple[list[str], int]:
    return [sys.executable, "-m", "mayfly.worker", "run", address], workers


def _ray(address: str, workers: int, threads: int) -> tuple[list[str], int]:
    launcher = [sys.executable, "-m", "mayfly.worker", "ray", address, str(workers)]
    more = ["--threads", str(threads), sys.executable, "-m", "mayfly.worker", "run"]
    return launcher + more, 1


def _listen(address: str, workers: int, threads: int) -> tuple[list[str], int]:
    return [], 0


def _mpi(address: str, workers: int, threads: int) -> tuple[list[str], int]:
    pipe = os.environ.get("MAYFLY_MPI_PIPE")
    if pipe is None:
        raise RuntimeError("engine 'mpi': start the program by mpirun mayfly-mpi python3 FILE")
    os.write(int(pipe), f"{address}\n".encode())
    return [], 0


# Where it listens, and which program is started how often.
_ENGINES: dict[str, tuple[str, Callable[[str, int, int], tuple[list[str], int]]]] = {
    "processes": ("127.0.0.1:0", _processes),
    "ray": ("0.0.0.0:0", _ray),
    "mpi": ("0.0.0.0:0", _mpi),
    "listen": ("127.0.0.1:0", _listen),
}


def dumps(value: Any) -> bytes:
    """A value as bytes."""
    try:
        return bytes(importlib.import_module("cloudpickle").dumps(value))
    except ImportError:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def _has_cloudpickle() -> bool:
    return importlib.util.find_spec("cloudpickle") is not None


class Engine(Shown):
    """Workers that stay until the engine is closed.

    Args:
        name: "processes" of this machine; "ray", actors of a Ray cluster; "mpi", the ranks of a
            program that `mpirun mayfly-mpi python3 FILE` has started; "listen", workers that you
            start by `python -m mayfly.worker run ADDRESS`, with `token` in MAYFLY_TOKEN.
        workers: about so many; None: one for each processor.
        threads: of each worker.
        address: numeric "HOST:PORT" to listen at; None: that of the kind, at a free port.

    Attributes:
        address: where it listens.
        token: what workers must know.

    """

    def __init__(
        self,
        name: str = "processes",
        workers: int | None = None,
        *,
        threads: int = 1,
        address: str | None = None,
    ) -> None:
        if name not in _ENGINES:
            raise ValueError(f"engine: need one of {', '.join(_ENGINES)}, got {name!r}")
        if workers is not None and workers < 1 or threads < 1:
            raise ValueError(f"need 1 worker and thread or more, got {workers} and {threads}")
        self.name = name
        self.workers = workers or os.cpu_count() or 1
        self.threads = threads
        self.token = os.environ.get("MAYFLY_TOKEN") or secrets.token_hex(16)
        own, begin = _ENGINES[name]
        self._context = Context(1)
        self._interrupted: BaseException | None = None
        kept = [
            ffi.new("char[]", word)
            for word in ((address or own).encode(), self.token.encode(), version())
        ]
        setup = ffi.from_buffer(pickle.dumps([os.getcwd(), *sys.path]))
        self._stop = ffi.callback("bool(void *)", lambda _: False, True, self._interrupt)
        config = ffi.new("mf_EngineConfig *")
        config.address, config.token, config.version = kept
        config.stop = self._stop
        config.setup, config.setup_size = setup, len(setup)
        self._native = output(lib.mf_engine_create, self._context._use(), config)
        self._kept = (kept, setup, config)
        self._end = weakref.finalize(self, _destroy, self._native, self._context, self._kept)
        self.address = text(lib.mf_engine_address(self._native))
        program, count = begin(self.address, self.workers, threads)
        if count > 0:
            words = [ffi.new("char[]", word.encode()) for word in program]
            arguments = ffi.new("char *[]", [*words, ffi.NULL])
            listed = ffi.cast("const char *const *", arguments)
            call(lib.mf_engine_start, self._native, listed, count)

    def _interrupt(self, kind: Any, error: BaseException, trace: Any) -> bool:
        self._interrupted = error
        return True

    def map(self, function: Callable[[Any], Any], arguments: Iterable[Any]) -> list[Any]:
        """The results of a function for each argument, in their order.

        Raises:
            WorkError: the function failed, for the first of the arguments with which it did.

        """
        given = list(arguments)
        if self.closed:
            raise errors.ClosedError("Engine is closed: make a new one")
        if function.__module__ == "__main__" and not _has_cloudpickle():
            raise TypeError(
                "functions of the main program need cloudpickle (pip install cloudpickle), those "
                "of a module do not"
            )
        packed = [dumps((function, argument)) for argument in given]
        works = ffi.new("mf_Work[]", len(packed))
        buffers = [ffi.from_buffer(part) for part in packed]
        for work, buffer in zip(works, buffers):
            work.data, work.size = buffer, len(buffer)
        self._interrupted = None
        try:
            call(lib.mf_engine_do, self._native, works, len(packed))
        except errors.StoppedError:
            raise self._interrupted or KeyboardInterrupt from None
        replies = []
        for work in works:
            replies.append(pickle.loads(bytes(ffi.buffer(work.reply, work.reply_size))))
            lib.mf_release(self._context._use(), work.reply)
        for good, value in replies:
            if not good:
                raise WorkError(value)
        return [value for _, value in replies]

    @property
    def lost(self) -> int:
        """Workers that were lost so far."""
        return 0 if self.closed else int(lib.mf_engine_statistics(self._native).lost)

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return not self._end.alive

    def close(self) -> None:
        """Ends the workers."""
        self._end()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _in_brief(self) -> str:
        return f"{self.name}, {self.workers} workers" + (", closed" if self.closed else "")


def _destroy(native: Any, context: Context, kept: Any) -> None:
    lib.mf_engine_destroy(native)
