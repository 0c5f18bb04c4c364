"""Workers of an engine (mayfly.Engine), as programs.

    python -m mayfly.worker run HOST:PORT
    python -m mayfly.worker ray HOST:PORT WORKERS [--threads N] PROGRAM...

The first does works until the engine is closed. The second keeps WORKERS actors of a Ray cluster
(environment variable RAY_ADDRESS) of N processors each, which run PROGRAM with the address behind
it; `mayfly evolve --engine ray` starts it, too. MAYFLY_TOKEN holds the token of the engine.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from mayfly import errors
from mayfly._native import call, ffi, lib, output
from mayfly.context import Context
from mayfly.engines import dumps, version

_ENDS = (0, 3)  # exit codes of a worker: its master needs no more; it is gone


def _answer(data: bytes) -> bytes:
    try:
        function, argument = pickle.loads(data)
        return dumps((True, function(argument)))
    except Exception:
        return dumps((False, traceback.format_exc()))


def _work(address: str) -> int:
    """Does what the master gives, until it needs no more."""
    context = Context(1)
    token = os.environ.get("MAYFLY_TOKEN", "").encode()
    try:
        worker = output(lib.mf_worker_connect, context._use(), address.encode(), token, version())
    except errors.MayflyError as error:
        print(f"mayfly: {error}", file=sys.stderr)
        return 3
    size = ffi.new("size_t *")
    setup = lib.mf_worker_setup(worker, size)  # where modules of the master are
    folders = pickle.loads(bytes(ffi.buffer(setup, size[0])))
    sys.path.extend(folder for folder in folders if folder not in sys.path)
    data = ffi.new("const void **")
    try:
        while True:
            call(lib.mf_worker_next, worker, data, size)
            reply = _answer(bytes(ffi.buffer(data[0], size[0])))
            call(lib.mf_worker_reply, worker, ffi.from_buffer(reply), len(reply))
    except errors.StoppedError:
        return 0
    except errors.MayflyError as error:
        print(f"mayfly: {error}", file=sys.stderr)
        return 3
    finally:
        lib.mf_worker_destroy(worker)


class _Actor:
    """On a node of a Ray cluster."""

    def run(self, command: Sequence[str], token: str) -> int:
        """Until the worker ends; its exit code."""
        environment = {**os.environ, "MAYFLY_TOKEN": token}
        return subprocess.run(command, env=environment, check=False).returncode


def _on_ray(address: str, workers: int, threads: int, program: list[str]) -> int:
    ray: Any = importlib.import_module("ray")
    ray.init(address=os.environ.get("RAY_ADDRESS"), log_to_driver=True, logging_level="error")
    host, _, port = address.rpartition(":")
    if host in ("0.0.0.0", "[::]"):  # of every interface: that by which other nodes reach this one
        host = ray.util.get_node_ip_address()
    actor = ray.remote(num_cpus=threads)(_Actor)
    running: dict[Any, Any] = {}

    def begin() -> None:
        one = actor.remote()
        command = [*program, f"{host}:{port}"]
        running[one.run.remote(command, os.environ.get("MAYFLY_TOKEN", ""))] = one

    for _ in range(workers):
        begin()
    while True:
        done, _ = ray.wait(list(running), num_returns=1)
        running.pop(done[0])
        try:
            if ray.get(done[0]) in _ENDS:
                return 0
        except ray.exceptions.RayError as error:
            print(f"mayfly: a worker on Ray was lost: {type(error).__name__}", file=sys.stderr)
        begin()


def main(words: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m mayfly.worker")
    commands = parser.add_subparsers(dest="command", required=True)
    worker = commands.add_parser("run", help="do works of a program in Python")
    worker.add_argument("address", help="HOST:PORT of its Engine")
    on_ray = commands.add_parser("ray", help="workers on a Ray cluster")
    on_ray.add_argument("address", help="HOST:PORT of the master")
    on_ray.add_argument("workers", type=int)
    on_ray.add_argument("--threads", type=int, default=1, help="of each worker")
    on_ray.add_argument("program", nargs=argparse.REMAINDER, help="a worker, without the address")
    given = parser.parse_args(words)
    if given.command == "run":
        return _work(given.address)
    try:
        return _on_ray(given.address, given.workers, given.threads, given.program)
    except ImportError:
        print("mayfly: engine 'ray' needs Ray (pip install ray)", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
