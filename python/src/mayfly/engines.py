"""Workers of a search on a Ray cluster, as `mayfly evolve --engine ray` starts them.

    python -m mayfly.engines ray HOST:PORT WORKERS PROGRAM --threads N

keeps WORKERS actors of N processors each, each of which runs PROGRAM, the command `mayfly`, as a
worker of the search that listens at HOST:PORT, until the search needs no more or is gone. Ray
places the actors; those that are lost are replaced. The environment variable RAY_ADDRESS names the
cluster, MAYFLY_TOKEN holds the token of the search.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import Any

_ENDS = (0, 3)  # exit codes of a worker: the search needs no more; it is gone


def _run(command: list[str], token: str) -> int:
    """On the node of an actor; the worker's exit code."""
    return subprocess.run(command, env={**os.environ, "MAYFLY_TOKEN": token}, check=False).returncode


def _on_ray(address: str, workers: int, program: str, threads: int) -> int:
    import ray

    ray.init(address=os.environ.get("RAY_ADDRESS"), log_to_driver=True, logging_level="error")
    host, _, port = address.rpartition(":")
    if host in ("0.0.0.0", "[::]"):  # of every interface: that by which other nodes reach this one
        host = ray.util.get_node_ip_address()
    token = os.environ.get("MAYFLY_TOKEN", "")
    command = [program, "worker", f"{host}:{port}", "--threads", str(threads)]
    actor = ray.remote(num_cpus=threads)(_Worker)

    def begin() -> Any:
        one = actor.remote()
        running[one.run.remote(command, token)] = one

    running: dict[Any, Any] = {}
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


class _Worker:
    """An actor."""

    def run(self, command: list[str], token: str) -> int:
        """Until the worker ends; its exit code."""
        return _run(command, token)


def main() -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m mayfly.engines", description=__doc__)
    parser.add_argument("engine", choices=["ray"])
    parser.add_argument("address", help="HOST:PORT of the search")
    parser.add_argument("workers", type=int)
    parser.add_argument("program", help="the command mayfly, on every node")
    parser.add_argument("--threads", type=int, default=1, help="of each worker")
    given = parser.parse_args()
    try:
        return _on_ray(given.address, given.workers, given.program, given.threads)
    except ImportError:
        print("mayfly: --engine ray needs Ray: pip install ray", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
