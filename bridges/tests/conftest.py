"""Worlds of `mayfly serve` for the tests of bridges."""

from __future__ import annotations

import itertools
import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("MUJOCO_GL", "disable")  # rcsssmj imports it; no picture is drawn here
COMMAND = os.environ.get("MAYFLY_COMMAND", str(ROOT / "build" / "mayfly"))
Start = Callable[..., subprocess.Popen[str]]  # the fixtures below
Serve = Callable[..., str]


@pytest.fixture
def start(tmp_path: pathlib.Path) -> Iterator[Start]:
    """Starts programs that end with the test: `start("serve", file, ...)` is Mayfly's, and
    `start("bridge", name, address, ...)` a bridge."""
    running: list[subprocess.Popen[str]] = []

    def run(word: str, *arguments: str) -> subprocess.Popen[str]:
        own = [sys.executable, "-m", "mayfly_bridges"] if word == "bridge" else [COMMAND, word]
        made = subprocess.Popen(
            [*own, *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        running.append(made)
        return made

    yield run
    for program in reversed(running):
        if program.poll() is None:
            program.send_signal(signal.SIGTERM)
            try:
                program.wait(10)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()
        if program.stdout is not None:
            program.stdout.close()


@pytest.fixture
def serve(start: Start, tmp_path: pathlib.Path) -> Serve:
    """`serve(file, "--speed", "0")` serves a file of the repository; returns the address."""
    numbers = itertools.count()

    def run(file: str | pathlib.Path, *options: str) -> str:
        address = str(tmp_path / f"world{next(numbers)}")
        server = start("serve", str(ROOT / file), "--unix", address, *options)
        assert server.stdout is not None
        for line in server.stdout:
            if line.startswith("serving at"):
                return address
        raise AssertionError(f"mayfly serve {file} ended with {server.wait()}")

    return run
