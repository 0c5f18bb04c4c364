"""Trusses: vertices, bars and linear actuators, from files or arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly._native import call, encode, ffi, lib, output, read_struct
from mayfly.bodies import VertexBody
from mayfly.context import Context

__all__ = ["Truss"]


_KINDS = {lib.MF_NEURON_SIGMOID: "sigmoid", lib.MF_NEURON_THRESHOLD: "threshold"}


def _network(native: Any, neurons: Sequence[Any], synapses: Sequence[Any]) -> list[object]:
    """Gives a native truss its network; returns the objects that it borrows."""
    kinds = {name: kind for kind, name in _KINDS.items()}
    cells = ffi.new("mf_Neuron[]", max(len(neurons), 1))
    for i, (kind, bias, state) in enumerate(neurons):
        if kind not in kinds:
            raise ValueError(f"neurons[{i}]: need 'sigmoid' or 'threshold', got {kind!r}")
        cells[i].kind, cells[i].bias, cells[i].state = kinds[kind], bias, state
    links = ffi.new("mf_Synapse[]", max(len(synapses), 1))
    for i, (source, target, weight) in enumerate(synapses):
        setattr(links[i], "from", int(source))
        links[i].to, links[i].weight = int(target), weight
    native.neurons, native.neuron_count = cells, len(neurons)
    native.synapses, native.synapse_count = links, len(synapses)
    return [cells, links]


class Truss(VertexBody):
    """A truss: immutable; `world.add_group(truss)` makes a group of copies.

    Create one with Truss.from_file, from_string or from_arrays.
    """

    _kind = "truss"
    _motions = ("quasistatic", "elastic")
    _precision = "double"

    @classmethod
    def from_arrays(
        cls,
        positions: npt.ArrayLike,
        ends: npt.ArrayLike,
        *,
        diameters: npt.ArrayLike = 0.01,
        rest_lengths: npt.ArrayLike = 0.0,
        actuators: Sequence[tuple[int, float, float] | tuple[int, float, float, int]] = (),
        neurons: Sequence[tuple[str, float, float]] = (),
        synapses: Sequence[tuple[int, int, float]] = (),
        fixed: Mapping[int, str] | None = None,
        loads: Mapping[int, Sequence[float]] | None = None,
        masses: Mapping[int, float] | None = None,
        cycle: float = 0.0,
        delay: float = 0.0,
        change: float = 0.0,
        material: str = "golem",
        name: str = "truss",
        context: Context | None = None,
    ) -> Truss:
        """A truss of a program.

        Args:
            positions: [m] of the vertices, (V, 3).
            ends: vertices of the bars, (B, 2).
            diameters: [m] of the bars; one number or (B,).
            rest_lengths: [m] without force; 0: the distance of the ends. One number or (B,).
            actuators: bar, shortest and longest rest length [m] of each, and the neuron that
                drives it, if one does.
            neurons: "sigmoid" or "threshold", bias, and state 0 .. 1 before the first cycle.
            synapses: two neurons, from and to, and the weight.
            fixed: axes along which vertices are fixed: `{0: "xyz", 3: "z"}`.
            loads: [N] forces on vertices: `{7: (0, 0, -10)}`.
            masses: [kg] of vertices in addition to their bars.
            cycle: [s] period of the network; 0: 0.2.
            delay: [s] before its first cycle.
            change: [m] most that an actuator changes in a cycle; 0: 0.01.
            material: "golem", "steel", "aluminum", "abs", "pla" or "nylon".
            name: of the truss.
            context: that of the process if not given.

        """
        points = np.asarray(positions, float).reshape(-1, 3)
        bars = np.asarray(ends, np.uint32).reshape(-1, 2)
        native = ffi.new("mf_Truss *")
        native.material = lib.mf_truss_material()
        if not lib.mf_truss_material_find(encode(material), ffi.addressof(native.material)):
            raise ValueError(f"material: need golem, steel, ..., got {material!r}")
        vertices = ffi.new("mf_TrussVertex[]", max(len(points), 1))
        for i, point in enumerate(points):
            vertices[i].position = point.tolist()
            vertices[i].mass = float((masses or {}).get(i, 0.0))
            vertices[i].load = [float(value) for value in (loads or {}).get(i, (0, 0, 0))]
            axes = (fixed or {}).get(i, "")
            vertices[i].fixed = [axis in axes for axis in "xyz"]
        rows = ffi.new("mf_TrussBar[]", max(len(bars), 1))
        thick = np.broadcast_to(np.asarray(diameters, float), len(bars))
        rest = np.broadcast_to(np.asarray(rest_lengths, float), len(bars))
        for i, pair in enumerate(bars):
            rows[i].ends = [int(pair[0]), int(pair[1])]
            rows[i].diameter, rows[i].rest_length = float(thick[i]), float(rest[i])
        motors = ffi.new("mf_TrussActuator[]", max(len(actuators), 1))
        for i, row in enumerate(actuators):
            motors[i].bar, motors[i].lower, motors[i].upper = int(row[0]), row[1], row[2]
            motors[i].neuron = int(row[3]) if len(row) > 3 else lib.MF_NONE
        network = _network(native, neurons, synapses)
        title = ffi.new("char[]", encode(name))
        native.name, native.vertices, native.bars, native.actuators = title, vertices, rows, motors
        native.vertex_count, native.bar_count = len(points), len(bars)
        native.actuator_count = len(actuators)
        native.cycle, native.delay, native.change = float(cycle), float(delay), float(change)
        call(lib.mf_truss_check, native)
        made = cls._from_native(native, context)
        del network  # was borrowed until here
        return made

    def _in_brief(self) -> str:
        native = self._use()
        return (
            f"{self.name!r}, {native.vertex_count} vertices, {native.bar_count} bars, "
            f"{native.actuator_count} actuators, {native.neuron_count} neurons"
        )

    # ---- what it is ------------------------------------------------------------------------------

    @property
    def positions(self) -> npt.NDArray[np.float64]:
        """[m] of the vertices in the file, (V, 3)."""
        native = self._use()
        rows = [list(native.vertices[i].position) for i in range(native.vertex_count)]
        return np.array(rows).reshape(-1, 3)

    @property
    def ends(self) -> npt.NDArray[np.uint32]:
        """Vertices of the bars, (B, 2)."""
        native = self._use()
        rows = [list(native.bars[i].ends) for i in range(native.bar_count)]
        return np.array(rows, np.uint32).reshape(-1, 2)

    @property
    def diameters(self) -> npt.NDArray[np.float64]:
        """[m] of the bars, (B,)."""
        native = self._use()
        return np.array([native.bars[i].diameter for i in range(native.bar_count)])

    @property
    def actuators(self) -> list[tuple[int, float, float]]:
        """Bar, shortest and longest rest length [m] of each actuator."""
        native = self._use()
        rows = [native.actuators[i] for i in range(native.actuator_count)]
        return [(int(row.bar), float(row.lower), float(row.upper)) for row in rows]

    @property
    def drivers(self) -> list[int | None]:
        """The neuron that drives each actuator; None where none does."""
        native = self._use()
        rows = [native.actuators[i].neuron for i in range(native.actuator_count)]
        return [None if row == lib.MF_NONE else int(row) for row in rows]

    @property
    def neurons(self) -> list[tuple[str, float, float]]:
        """Kind, bias and first state of each neuron."""
        native = self._use()
        rows = [native.neurons[i] for i in range(native.neuron_count)]
        return [(_KINDS[row.kind], float(row.bias), float(row.state)) for row in rows]

    @property
    def synapses(self) -> list[tuple[int, int, float]]:
        """Neurons from and to, and weight of each synapse."""
        native = self._use()
        rows = [native.synapses[i] for i in range(native.synapse_count)]
        return [(int(getattr(row, "from")), int(row.to), float(row.weight)) for row in rows]

    @property
    def cycle(self) -> float:
        """[s] period of the network that drives actuators."""
        return float(self._use().cycle)

    @property
    def delay(self) -> float:
        """[s] before the network's first cycle."""
        return float(self._use().delay)

    @property
    def change(self) -> float:
        """[m] most that an actuator changes in a cycle of the network."""
        return float(self._use().change)

    @property
    def mass(self) -> float:
        """[kg] of bars and vertices."""
        return float(lib.mf_truss_mass(self._use()).mass)

    @property
    def center(self) -> npt.NDArray[np.float64]:
        """[m] center of mass in the frame of the file."""
        return np.array(list(lib.mf_truss_mass(self._use()).center))

    @property
    def statics(self) -> dict[str, Any]:
        """`rank`, `freedoms`, `rigid_modes`, `mechanisms`, `redundant`, `parts`, `dangling`: what
        the geometry says (`mf_TrussStatics`).
        """
        return read_struct(output(lib.mf_truss_statics, self._context._use(), self._use())[0])

    @property
    def euler_loads(self) -> npt.NDArray[np.float64]:
        """[N] compression at which each bar buckles, (B,)."""
        native = self._use()
        return np.array([lib.mf_truss_euler_load(native, i) for i in range(native.bar_count)])
