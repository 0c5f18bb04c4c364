"""A world of `mayfly serve` for the tests of its clients."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator

import pytest

COMMAND = os.environ.get("MAYFLY_COMMAND", "mayfly")
needs_command = pytest.mark.skipif(shutil.which(COMMAND) is None, reason="needs the command")


@contextlib.contextmanager
def serve(file: pathlib.Path, *options: str) -> Iterator[str]:
    """Serves a scene or a robot with these options; gives the address, and ends it well."""
    words = [COMMAND, "serve", str(file), *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            found = None
            while found is None:
                line = server.stdout.readline()
                assert line, "the server ended"
                found = re.match(r"serving at (\S+) ", line)
            yield found[1]
            server.send_signal(signal.SIGTERM)
            assert server.wait(20) == 0
        finally:
            server.kill()  # where a test failed
