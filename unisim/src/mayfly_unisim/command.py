"""The command `mayfly-unilab`: UniLab's `train` and `eval` that know `--sim mayfly`.

UniLab's own commands accept the simulators that UniLab ships. A task has a configuration for each;
for `mayfly` it is that of `mujoco`, with the other backend.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from mayfly_unisim.registration import NAME

__all__ = ["main", "script_arguments"]

_USAGE = "usage: mayfly-unilab train|eval --algo ALGO --task TASK --sim mayfly [OVERRIDES]"


def script_arguments(arguments: Sequence[str]) -> list[str]:
    """UniLab's script for the arguments of the command, and what it is given.

    Raises:
        SystemExit: they are wrong: one line.

    """
    from unilab import cli

    if not arguments or arguments[0] not in ("train", "eval"):
        raise SystemExit(_USAGE)
    mode = arguments[0]
    cli.SUPPORTED_SIMS = (*cli.SUPPORTED_SIMS, NAME)
    options, overrides = cli._train_eval_parser(mode=mode).parse_known_args(arguments[1:])
    chosen = options.sim == NAME
    # The configuration needs no MuJoCo.
    check = cli._check_runtime_requirements
    cli._check_runtime_requirements = lambda algo, sim: None if chosen else check(algo, sim)
    command = cli.build_command(
        mode=mode,
        algo=options.algo,
        task=options.task,
        sim="mujoco" if chosen else options.sim,
        profile=options.profile,
        overrides=overrides,
        load_run=getattr(options, "load_run", None),
        render_mode=options.render_mode,
    )
    return [*command[1:], *([f"training.sim_backend={NAME}"] if chosen else [])]


def main() -> None:
    """Runs UniLab's script as UniLab does, in a process of its own."""
    arguments = script_arguments(sys.argv[1:])
    try:
        raise SystemExit(subprocess.run([sys.executable, *arguments]).returncode)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
