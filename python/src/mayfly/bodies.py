"""Bodies of vertices with files of their own (YAML): what all kinds of them have in common."""

from __future__ import annotations

import os
from typing import Any, ClassVar, TypeVar

from mayfly._native import Native, encode, ffi, lib, output, take_text, text
from mayfly.context import Context, default_context

__all__ = ["VertexBody", "kind_of_file", "kinds"]

AnyBody = TypeVar("AnyBody", bound="VertexBody")


class VertexBody(Native):
    """A body of vertices: immutable; `world.add_group(body)` makes a group of copies."""

    # A subclass is the row of its kind: its name, which is the top key of a file; the motions that
    # move it, of which the first is the default; the precision of their state without a word.
    _kind: ClassVar[str]
    _motions: ClassVar[tuple[str, ...]]
    _precision: ClassVar[str] = "float"
    _sealed = True
    _context: Context

    def __init__(self) -> None:
        name, kind = type(self).__name__, self._kind
        raise TypeError(f"make a {kind} with {name}.from_file(path) or from arrays")

    @classmethod
    def from_file(
        cls: type[AnyBody], path: str | os.PathLike[str], *, context: Context | None = None
    ) -> AnyBody:
        """Loads a file of the kind (`*.truss.yaml`); FileError names file and line."""
        used = context if context is not None else default_context()
        at = encode(os.fsdecode(path))
        return cls._of(used, output(lib.mf_body_load, used._use(), cls._native_kind(), at))

    @classmethod
    def from_string(cls: type[AnyBody], source: str, *, context: Context | None = None) -> AnyBody:
        """The same from a text."""
        used, kind = context if context is not None else default_context(), cls._native_kind()
        data = encode(source)
        native = output(lib.mf_body_parse, used._use(), kind, b"<text>", data, len(data))
        return cls._of(used, native)

    @classmethod
    def _from_native(cls: type[AnyBody], native: Any, context: Context | None) -> AnyBody:
        """Of a native description, which C borrows until it is written as text."""
        used = context if context is not None else default_context()
        return cls.from_string(cls._write(native, used), context=used)

    @classmethod
    def _write(cls, native: Any, context: Context) -> str:
        return take_text(
            context._use(), lib.mf_body_write, context._use(), cls._native_kind(), native
        )

    @classmethod
    def _native_kind(cls) -> Any:
        return lib.mf_body_kind_named(encode(cls._kind))

    @classmethod
    def _of(cls: type[AnyBody], context: Context, pointer: Any) -> AnyBody:
        body = cls.__new__(cls)
        body._take(lib.MFPY_BODY, ffi.cast(f"mf_{cls.__name__} *", pointer), [context])
        body._context = context
        return body

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self).from_string, (self.to_yaml(),))

    @property
    def name(self) -> str:
        """That of the file."""
        return text(self._use().name)

    def _in_brief(self) -> str:
        return repr(self.name)

    def to_yaml(self) -> str:
        """The text of its file."""
        return self._write(self._use(), self._context)


def kinds() -> dict[str, type[VertexBody]]:
    """All kinds that have a class here, by their names."""
    return {kind._kind: kind for kind in VertexBody.__subclasses__()}


def kind_of_file(path: str) -> type[VertexBody] | None:
    """The class of a YAML file by its top key; None: none of these, or it cannot be read."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    return kinds().get(text(lib.mf_body_kind_name(lib.mf_body_kind_of(data, len(data)))))
