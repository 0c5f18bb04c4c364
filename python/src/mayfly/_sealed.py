"""Objects that refuse attributes which they do not have: a mistyped one would have no effect."""

from __future__ import annotations

import difflib
import inspect
from typing import Any

from mayfly._shown import Shown

__all__ = ["Sealed", "check_attribute"]

_NOTHING = object()


class Sealed(Shown):
    """After `_seal()`, the last line of a constructor, only properties with a setter and names in
    `_settable` can be set. Subclasses outside of this package may add attributes.
    """

    _sealed = False
    _settable: frozenset[str] = frozenset()
    _replaceable = False  # whether all that exist may be replaced, as libraries do

    def _seal(self) -> None:
        object.__setattr__(self, "_sealed", True)

    def __setattr__(self, name: str, value: object) -> None:
        if self._sealed and not name.startswith("_") and name not in self._settable:
            check_attribute(self, name, self._replaceable)
        super().__setattr__(name, value)


def check_attribute(thing: object, name: str, replaceable: bool) -> None:
    """Raises AttributeError where setting an attribute from outside would have no effect."""
    kind = type(thing)
    found = inspect.getattr_static(kind, name, _NOTHING)
    if isinstance(found, property):
        if found.fset is None:
            raise AttributeError(f"{kind.__name__}.{name} is read-only{_instead(kind, name)}")
        return
    exists = name in vars(thing) or found is not _NOTHING
    if exists and replaceable:
        return
    if exists:
        raise AttributeError(f"{kind.__name__}.{name} cannot be replaced{_instead(kind, name)}")
    if kind.__module__.partition(".")[0] != __name__.partition(".")[0]:
        return  # a subclass of the user's
    public = [known for known in {*dir(kind), *vars(thing)} if not known.startswith("_")]
    near = difflib.get_close_matches(name, sorted(public), 1)
    hint = f", did you mean {near[0]!r}?" if near else ""
    raise AttributeError(f"{kind.__name__} has no {name!r} to set{_instead(kind, name) or hint}")


def _instead(kind: type[Any], name: str) -> str:
    if name in inspect.signature(kind.__init__).parameters:
        return f": it is given when it is made, {kind.__name__}({name}=...)"
    return ""
