"""The key `bridges` of scenes: `mayfly serve` starts them, again if they fail, and ends them."""

from __future__ import annotations

import os
import pathlib
import signal
import stat
import subprocess
import time
from collections.abc import Iterator

import pytest

from conftest import COMMAND, ROOT

SCENE = f"""
groups:
- {{name: robot, model: {ROOT}/models/humanoid.urdf}}
bridges:
- name: parrot
  options: --port 7  --quiet
"""
# Instead of Python: notes its words, fails as often as the file `fails` has bytes, then stays.
STAND_IN = """#!/bin/sh
cd "$(dirname "$0")" || exit 9
trap 'echo ended >>calls; exit 0' TERM
echo "$@" >>calls
[ "$(wc -c <fails)" -lt "$(wc -l <calls)" ] || exit 3
while :; do sleep 0.05; done
"""


@pytest.fixture
def stand_in(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "python"
    path.write_text(STAND_IN)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "scene.yaml").write_text(SCENE)
    return path


@pytest.fixture
def served(
    stand_in: pathlib.Path, request: pytest.FixtureRequest
) -> Iterator[subprocess.Popen[str]]:
    """A server whose bridge fails so many times; once by default."""
    folder = stand_in.parent
    (folder / "fails").write_text("x" * getattr(request, "param", 1))
    words = [COMMAND, "serve", str(folder / "scene.yaml"), "--allow-bridges"]
    words += ["--unix", str(folder / "world")]
    with subprocess.Popen(
        words,
        env={**os.environ, "MAYFLY_PYTHON": str(stand_in)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        yield server
        if server.poll() is None:
            server.kill()


def lines(folder: pathlib.Path, count: int) -> list[str]:
    """The noted calls, when there are so many."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        path = folder / "calls"
        found = path.read_text().splitlines() if path.exists() else []
        if len(found) >= count:
            return found
        time.sleep(0.02)
    raise AssertionError(f"expected {count} lines, found {found}")


def test_one_that_fails_is_started_again_and_ended(
    stand_in: pathlib.Path, served: subprocess.Popen[str]
) -> None:
    calls = lines(stand_in.parent, 2)
    assert calls[0] == f"-I -m mayfly_bridges parrot {stand_in.parent}/world --port 7 --quiet"
    assert calls[1] == calls[0]
    served.send_signal(signal.SIGTERM)
    assert served.wait(20) == 0
    assert lines(stand_in.parent, 3)[2] == "ended"
    assert served.stderr is not None
    said = served.stderr.read()
    assert said.count("bridge parrot failed with exit status 3; it is started again") == 1


@pytest.mark.parametrize("served", [9], indirect=True)
def test_one_that_never_works_is_given_up(
    stand_in: pathlib.Path, served: subprocess.Popen[str]
) -> None:
    assert served.stderr is not None
    said = ""
    for line in served.stderr:
        said += line
        if "given up" in line:
            break
    served.send_signal(signal.SIGTERM)
    assert served.wait(20) == 0
    assert said.count("started again") == 2 and len(lines(stand_in.parent, 3)) == 3


def test_other_commands_say_that_they_start_none(stand_in: pathlib.Path) -> None:
    result = subprocess.run(
        [COMMAND, "run", str(stand_in.parent / "scene.yaml"), "--duration", "0.01"],
        text=True,
        capture_output=True,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    assert (
        "bridges: 1 not started here; mayfly serve --allow-bridges starts them"
        in result.stdout + result.stderr
    )
