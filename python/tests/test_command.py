"""The command that the package installs: it runs inside the Python module."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sysconfig
import time
from typing import Any

import mayfly

COMMAND = pathlib.Path(sysconfig.get_path("scripts")) / "mayfly"


def call(*words: str, cwd: pathlib.Path, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *words], cwd=cwd, capture_output=True, text=True, timeout=120, check=False, **more
    )


def test_it_is_the_version_of_the_module_and_knows_the_licenses(tmp_path: pathlib.Path) -> None:
    assert call("--version", cwd=tmp_path).stdout == f"mayfly {mayfly.__version__}\n"
    assert "three.js" in call("--licenses", cwd=tmp_path).stdout


def test_it_finds_the_package_s_files_and_says_so(tmp_path: pathlib.Path) -> None:
    done = call("run", "models/hexapod.urdf", "--duration", "0.01", cwd=tmp_path)
    own = mayfly.data_folder() / "models/hexapod.urdf"
    assert done.returncode == 0
    assert done.stderr == f"mayfly: models/hexapod.urdf is not in this folder; using {own}\n"


def test_errors_have_the_exit_codes_of_the_command(tmp_path: pathlib.Path) -> None:
    assert call("run", "none.urdf", cwd=tmp_path).returncode == 1
    wrong = call("rnu", cwd=tmp_path)
    assert wrong.returncode == 2 and "did you mean 'run'" in wrong.stderr


def test_ctrl_c_stops_it_so_that_it_can_go_on(tmp_path: pathlib.Path) -> None:
    words = [COMMAND, "evolve", "scenes/hexapod.yaml", "--threads", "1", "--out", "run"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        while not (tmp_path / "run" / "archive.sqlite").exists() and process.poll() is None:
            time.sleep(0.05)
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(120) == 75
