"""What tests share. They run against the installed package, not against the sources here."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

import mayfly

ROOT = pathlib.Path(__file__).resolve().parents[2]
FULL = os.environ.get("MAYFLY_FULL", "0") not in ("", "0")


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    found = pathlib.Path(mayfly.__file__).resolve()
    assert ROOT / "python" / "src" not in found.parents, f"{found} is not the installed package"


@pytest.fixture(scope="session")
def hexapod() -> mayfly.Model:
    return mayfly.Model.from_file("hexapod.urdf")


@pytest.fixture(scope="session")
def ant() -> mayfly.Model:
    return mayfly.Model.from_file("ant.xml")


@pytest.fixture
def world() -> Iterator[mayfly.World]:
    with mayfly.World() as made:
        yield made


@pytest.fixture(scope="session")
def command() -> str:
    """The command `mayfly`: of MAYFLY_COMMAND, of this project's build folder, or of the path."""
    built = ROOT / "build" / "mayfly"
    found = os.environ.get("MAYFLY_COMMAND") or (str(built) if built.exists() else None)
    found = found or shutil.which("mayfly")
    if found is None:
        pytest.fail("no command `mayfly`: build the project, or name it in MAYFLY_COMMAND")
    return found


@pytest.fixture
def script(tmp_path: pathlib.Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a Python text in a process of its own, where a crash or hang harms nobody."""

    def run(text: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        file = tmp_path / "script.py"
        file.write_text(text)
        with subprocess.Popen(
            [sys.executable, str(file)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                out, errors = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # with the processes that it made
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, errors)

    return run
