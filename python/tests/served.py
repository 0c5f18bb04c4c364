"""The command `mayfly` for tests: runs of it, and what it serves."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "mayfly"
COMMAND = os.environ.get("MAYFLY_COMMAND") or (str(BUILT) if BUILT.exists() else "mayfly")
needs_command = pytest.mark.skipif(shutil.which(COMMAND) is None, reason="needs the command")
needs_browser = pytest.mark.skipif(
    shutil.which("chromium") is None or shutil.which(COMMAND) is None,
    reason="needs chromium and the command",
)


def call(*words: object, code: int = 0, **more: Any) -> subprocess.CompletedProcess[str]:
    """Runs the command in the folder of the project; it must end with that exit code."""
    if shutil.which(COMMAND) is None:
        pytest.fail("no command `mayfly`: build the project, or name it in MAYFLY_COMMAND")
    given = {"cwd": ROOT, **more}
    done = subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, **given)
    assert done.returncode == code, done.stderr
    return done


@contextlib.contextmanager
def serve_all(file: pathlib.Path, *options: str) -> Iterator[list[str]]:
    """Serves a scene or a robot with these options; gives the addresses, that of the server last,
    and ends it well."""
    words = [COMMAND, "serve", str(file), *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            text = ""
            while "serving at" not in text:
                line = server.stdout.readline()
                assert line, "the server ended"
                text += line
            yield re.findall(r"(?:see it|serving) at (\S+)", text)
            server.send_signal(signal.SIGTERM)
            assert server.wait(20) == 0
        finally:
            server.kill()  # where a test failed


@contextlib.contextmanager
def serve(file: pathlib.Path, *options: str) -> Iterator[str]:
    """The same without a page: gives the address of the server."""
    with serve_all(file, *options) as addresses:
        yield addresses[-1]
