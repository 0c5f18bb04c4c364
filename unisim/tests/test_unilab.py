"""UniLab's own script trains with Mayfly."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("unilab", reason="needs unilab, with PyTorch")


def test_command_chooses_the_backend() -> None:
    from mayfly_unisim.command import script_arguments

    words = "train --algo ppo --task go2_joystick_flat --sim mayfly algo.num_envs=8".split()
    script, *overrides = script_arguments(words)
    assert pathlib.Path(script).name == "train_rsl_rl.py"
    assert "task=go2_joystick_flat/mujoco" in overrides
    assert overrides[-2:] == ["algo.num_envs=8", "training.sim_backend=mayfly"]
    with pytest.raises(SystemExit, match="usage"):
        script_arguments(["learn"])


def test_every_process_of_unilab_knows_it() -> None:
    program = (
        "from unilab.base import registry; registry.ensure_registries()\n"
        "print(registry.list_registered_envs()['Go2JoystickFlat']['available_backends'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "'mayfly'" in done.stdout, done.stderr
