"""Fitness of genomes as a scene defines it, as by the command `mayfly evolve`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly._native import Native, Turn, call, encode, ffi, in_turn, lib, output, take_text, text
from mayfly._sealed import Sealed
from mayfly.arrays import whole
from mayfly.context import Context, default_context
from mayfly.evaluate import Evaluation
from mayfly.group_setup import overrides
from mayfly.machines import bytes_of
from mayfly.scene import scene_file

__all__ = ["Evaluator"]


class _File(Native):
    def __init__(self, context: Context, path: str, settings: Mapping[str, object]) -> None:
        table, alive = overrides(settings)
        native = output(lib.mf_scene_file_load, context._use(), encode(path), table, len(alive))
        self._take(lib.MFPY_SCENE_FILE, native, [context])
        call(lib.mf_scene_file_can_evolve, native)
        native.evolves = True  # also if all its settings are defaults


class _Stage(Native):
    def __init__(self, context: Context, file: _File, config: Any) -> None:
        at = ffi.addressof(config)
        native = output(lib.mfpy_scene_create, context._use(), file._use(), at)
        self._take(lib.MFPY_STAGE, native, [context, file])


class Evaluator(Sealed):
    """Simulates genomes in the first group of a scene: `evaluator(genomes)` is an Evaluation.

    Args:
        path: a scene (YAML) whose controller evolves: gp, oscillator or machine. A name that does
            not exist is searched among Mayfly's scenes.
        settings: changes of its lines by their paths, as for Scene.
        count: robots that are simulated at once; None: as many as its search asks for.
        plugins: load the shared libraries that the file names.
        threads: workers for this alone; None: those of `context`.
        context: memory and threads; None: the default context.

    A genome's row depends on the genome alone, and its bits are those of `mayfly evolve`.

    Attributes:
        genome_bytes: [byte] of a genome.
        count: robots at once.

    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        settings: Mapping[str, object] | None = None,
        *,
        count: int | None = None,
        plugins: bool = False,
        threads: int | None = None,
        context: Context | None = None,
    ) -> None:
        if threads is not None and context is not None:
            raise TypeError("threads and context: a context has its own threads, give one of them")
        if threads is not None:
            context = Context(threads)
        self._lock = Turn(type(self).__name__)
        self._context = context if context is not None else default_context()
        if plugins:
            lib.mf_plugins_allow(self._context._use(), True)
        self.path = scene_file(path)
        self._file = _File(self._context, self.path, settings or {})
        file = self._file._use()
        at_once = int(lib.mf_search_evaluated_at_once(ffi.addressof(file.search)))
        self.count = at_once if count is None else whole(count, "count", 1, 2**20 + 1)
        config = lib.mf_scene_config()
        config.evaluates, config.count = True, self.count
        self._levels = [_Stage(self._context, self._file, config)]
        self._levels += self._verifying(file)
        self.genome_bytes = int(lib.mf_scene_genome_bytes(self._levels[0]._use()))
        self._seal()

    def _verifying(self, file: Any) -> list[_Stage]:
        """Scenes at the level of `search.verify`; with `stiffness` a second one."""
        verify = file.verify
        if verify.motion == lib.MF_VERIFY_NONE:
            return []
        motion = lib.mf_verify_motion(verify.motion)
        config = lib.mf_scene_config_at_level(file, motion)
        config.count = verify.best
        if motion != lib.MF_MOTION_POINTS:
            config.step = verify.step  # also at the level of the evaluations
        stages = [_Stage(self._context, self._file, config)]
        if verify.stiffness != 1.0:
            config.stiffness = file.groups[0].servo.stiffness * verify.stiffness
            stages.append(_Stage(self._context, self._file, config))
        return stages

    @property
    def seconds(self) -> float:
        """[s] of an evaluation."""
        return float(self._file._use().duration)

    @property
    def descriptors(self) -> tuple[str, ...]:
        """Names of the measures in `search.descriptors`."""
        search = self._file._use().search
        return tuple(text(search.descriptors[i].name) for i in range(search.descriptor_count))

    @property
    def settings(self) -> str:
        """The scene file, defaults filled in."""
        file = self._file._use()
        return take_text(self._context._use(), lib.mf_scene_file_write, file)

    @in_turn
    def __call__(self, genomes: npt.ArrayLike, *, verify: bool = False) -> Evaluation:
        """Simulates genomes.

        Args:
            genomes: bytes, (n, genome_bytes), any number of them.
            verify: at the level of the scene's `search.verify`.

        Returns:
            An Evaluation with fitness (NaN for a robot with a fault) and the descriptors of the
            scene's search. The faults of machines are 0: only their fitness tells.

        """
        rows = bytes_of(genomes, "genomes")
        if rows.ndim != 2 or rows.shape[1] != self.genome_bytes:
            raise ValueError(f"genomes: need shape (n, {self.genome_bytes}), got {rows.shape}")
        if verify and len(self._levels) == 1:
            raise ValueError(f"verify: {self.path} has no search.verify")
        stages = self._levels[1:] if verify else self._levels[:1]
        parts = [self._part(stage, rows, not verify) for stage in stages]
        fitness, described, faults = parts[0]
        for other, _, more in parts[1:]:  # the worse of both counts
            fitness = np.minimum(fitness, other)
            faults = faults | more
        return Evaluation(
            fitness=fitness,
            measures={},
            descriptors=described,
            faults=faults,
            fitness_per_seed=fitness[None],
            simulated_seconds=len(stages) * len(rows) * self.seconds,
        )

    def _part(
        self, stage: _Stage, rows: npt.NDArray[np.uint8], describe: bool
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.uint32]]:
        scene = stage._use()
        names = self.descriptors if describe else ()
        fitness, faults = np.full(len(rows), np.nan), np.zeros(len(rows), np.uint32)
        described = np.full((len(rows), len(names)), np.nan)
        machines = scene.file.groups[0].controller == lib.MF_CONTROLLER_MACHINE
        robots = int(lib.mf_group_count(scene.group))
        for first in range(0, len(rows), robots):
            some = slice(first, first + robots)
            count = len(rows[some])
            given = ffi.cast("uint8_t *", ffi.from_buffer(rows[some]))
            sizes = (scene, given, count, self.genome_bytes)
            out = ffi.cast("double *", ffi.from_buffer(fitness[some]))
            call(lib.mf_scene_evaluate, *sizes, out)
            if names:
                out = ffi.cast("double *", ffi.from_buffer(described[some]))
                call(lib.mf_scene_describe, *sizes, out)
            for i in range(0 if machines else count):
                faults[first + i] = lib.mf_group_fault(scene.group, i)
        return fitness, described, faults

    def __repr__(self) -> str:
        return f"<Evaluator of {self.path}: {self.genome_bytes} bytes, {self.count} at once>"
