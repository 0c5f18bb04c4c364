"""Machines of bars, actuators and neurons that evolve: their genomes and the operators that vary
them (docs/explanation/quasistatic.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import call, check, ffi, fill, lib, read_struct
from mayfly._sealed import Sealed
from mayfly.arrays import whole
from mayfly.context import Context
from mayfly.truss import Truss

__all__ = ["Machines", "bytes_of"]

# Parts of a machine, all of them members of a truss with the same names, and most of each.
_PARTS = {
    "vertices": ("vertex_count", lib.MF_MACHINE_VERTICES),
    "bars": ("bar_count", lib.MF_MACHINE_BARS),
    "actuators": ("actuator_count", lib.MF_MACHINE_ACTUATORS),
    "neurons": ("neuron_count", lib.MF_MACHINE_NEURONS),
    "synapses": ("synapse_count", lib.MF_MACHINE_SYNAPSES),
}


def bytes_of(genome: npt.ArrayLike, what: str) -> npt.NDArray[np.uint8]:
    """A contiguous array of bytes; raises where values are not whole numbers 0 .. 255."""
    if isinstance(genome, (bytes, bytearray)):
        return np.frombuffer(genome, np.uint8)
    table = np.asarray(genome)
    if table.dtype != np.uint8 and (
        table.dtype.kind not in "iu" or table.size == 0 or table.min() < 0 or table.max() > 255
    ):
        raise ValueError(f"{what}: need bytes, whole numbers 0 .. 255, got {table.dtype}")
    return np.ascontiguousarray(table, np.uint8)


def _machine_of(truss: Truss | None) -> Any:
    """The native machine of a truss; without one the empty machine."""
    machine = ffi.new("mf_Machine *")
    native = ffi.NULL if truss is None else truss._use()
    for name, (count_name, most) in _PARTS.items() if truss is not None else ():
        count = int(getattr(native, count_name))
        if count > most:
            raise errors.LimitError(f"truss: a machine has at most {most} {name}, got {count}")
        setattr(machine, count_name, count)
        rows = getattr(machine, name)
        ffi.memmove(rows, getattr(native, name), count * ffi.sizeof(rows[0]))
    return machine


class Machines(Sealed):
    """Genomes of machines and the operators that vary them, for `genome` of a search.

    A machine is a truss whose actuators are driven by neurons; its genome describes body and
    network. A child differs from its parent by one or more operators with the chances of Lipson and
    Pollack (2000): lengths and weights change, bars, neurons and actuators come and go, vertices
    and bars become two.

    Args:
        ancestor: the machine of the first generation, a truss of at most 64 vertices and 96 bars;
            None: the empty machine.
        settings: members of `mf_MachineConfig` (mayfly/machine.h): the chances `change`, `add`,
            `split` and `attach`, and sizes such as `bar_length` [m], `stroke` [m], `genome_bytes`.

    """

    def __init__(self, ancestor: Truss | None = None, **settings: object) -> None:
        if "ancestor" in settings or not isinstance(ancestor, (Truss, type(None))):
            raise TypeError(f"ancestor: need a Truss or None, got {ancestor!r}")
        self._config = ffi.new("mf_MachineConfig *", lib.mf_machine_config())
        fill(self._config[0], settings, "machines")
        self._ancestor = _machine_of(ancestor)
        if ancestor is not None:
            self._config.ancestor = self._ancestor
        self.genome_bytes = int(self._config.genome_bytes)
        self.genome(ancestor)  # raises if it does not fit
        self._seal()

    @property
    def settings(self) -> dict[str, Any]:
        """Chances and sizes of the operators."""
        return read_struct(self._config[0])

    def genome(self, truss: Truss | None) -> npt.NDArray[np.uint8]:
        """The genome of a truss, (genome_bytes,); of None: of the empty machine.

        The material, loads and fixed vertices of the truss are not part of it.
        """
        out = np.zeros(self.genome_bytes, np.uint8)
        call(lib.mf_machine_encode, _machine_of(truss), self._buffer(out), out.size)
        return out

    def truss(
        self, genome: npt.ArrayLike, *, stand: bool = True, context: Context | None = None
    ) -> Truss:
        """The machine of a genome as a truss.

        Args:
            genome: bytes, (genome_bytes,).
            stand: turned to where it stands on level ground, as trials begin.
            context: of the truss.

        Raises:
            CorruptError: the bytes are no machine.
            ArgumentError: the machine is empty.

        """
        machine = self._decoded(genome)
        if stand:
            lib.mf_machine_stand(machine)
        native = ffi.new("mf_Truss *", lib.mf_machine_truss(machine))
        call(lib.mf_truss_check, native)
        return Truss._from_native(native, context)

    def parts(self, genome: npt.ArrayLike) -> dict[str, int]:
        """Numbers of the machine's vertices, bars, actuators, neurons and synapses.

        Raises:
            CorruptError: the bytes are no machine.

        """
        machine = self._decoded(genome)
        return {name: int(getattr(machine, count)) for name, (count, _) in _PARTS.items()}

    def _decoded(self, genome: npt.ArrayLike) -> Any:
        machine = ffi.new("mf_Machine *")
        row = self._one(genome)
        call(lib.mf_machine_decode, self._buffer(row), row.size, machine)
        return machine

    def vary(
        self, parent: npt.ArrayLike | None, seed: int = 0, number: int = 0
    ) -> npt.NDArray[np.uint8]:
        """A child of a genome, or without a parent the ancestor's genome.

        It depends on these arguments alone: `number` tells children of a parent apart, in a search
        it is the child's id.
        """
        row = ffi.NULL if parent is None else self._buffer(kept := self._one(parent))
        out = np.zeros(self.genome_bytes, np.uint8)
        at = self._buffer(out)
        seed, number = whole(seed, "seed", 0, 2**64), whole(number, "number", 0, 2**64)
        check(lib.mf_machine_vary(self._config, row, seed, number, at, out.size))
        if parent is not None:
            del kept  # was borrowed until here
        return out

    def _one(self, genome: npt.ArrayLike) -> npt.NDArray[np.uint8]:
        row = bytes_of(genome, "genome")
        if row.shape != (self.genome_bytes,):
            raise ValueError(f"genome: need {self.genome_bytes} bytes, got shape {row.shape}")
        return row

    @staticmethod
    def _buffer(row: npt.NDArray[np.uint8]) -> Any:
        return ffi.cast("uint8_t *", ffi.from_buffer(row))

    def __repr__(self) -> str:
        ancestor = f"{self._ancestor.bar_count} bars" if self._ancestor.bar_count else "nothing"
        return f"<Machines of {self.genome_bytes} bytes from {ancestor}>"
