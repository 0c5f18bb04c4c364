"""Terms of a task as source text that runs without Mayfly."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mayfly import errors

__all__ = ["Carrier", "NotCarriedError"]

_HEAD = '''"""Terms of the task, as Mayfly computes them. Written by mayfly.export()."""

from __future__ import annotations
'''
_MODULES = ("math", "numpy")


class NotCarriedError(errors.UnsupportedError):
    """A term needs what is missing where it is to run."""


class Carrier:
    """Collects functions, and what they call.

    Args:
        environment: the class whose attributes functions may use.
        fields: that they may read by name.

    """

    def __init__(self, environment: type, fields: Sequence[str]) -> None:
        self._attributes = {*dir(environment), *inspect.get_annotations(environment)}
        self._fields = fields
        self._functions: dict[str, Callable[..., Any]] = {}
        self._sources: dict[str, str] = {}
        self._lines: dict[str, str] = {}  # imports and constants by name

    def add(self, function: Any, params: Mapping[str, Any]) -> str:
        """Takes a term; its name. Raises NotCarriedError, and then takes nothing."""
        before = [dict(one) for one in (self._functions, self._sources, self._lines)]
        try:
            for name, value in params.items():
                self._check_value(name, value)
            self._take(function, dict(params))
        except NotCarriedError:
            self._functions, self._sources, self._lines = before  # type: ignore[assignment]
            raise
        return str(function.__name__)

    def text(self) -> str:
        """The module."""
        return (
            "\n\n".join([_HEAD + "\n".join(self._lines.values()), *self._sources.values()]) + "\n"
        )

    def _check_value(self, name: str, value: Any) -> None:
        if isinstance(value, (list, tuple)):
            for one in value:
                self._check_value(name, one)
        elif not isinstance(value, (str, int, float, bool, type(None))):
            raise NotCarriedError(f"parameter {name} is not a number, text or list of them")

    def _take(self, function: Any, params: Mapping[str, Any] | None = None) -> None:
        name = getattr(function, "__name__", repr(function))
        if not isinstance(function, types.FunctionType) or name == "<lambda>":
            raise NotCarriedError(f"need a function that def makes, got {name}")
        if function.__closure__:
            raise NotCarriedError(f"{name} uses variables of the function that it is made in")
        known = self._functions.get(name)
        if known is not None and known is not function:
            raise NotCarriedError(f"there are two functions {name}")
        try:
            source = textwrap.dedent(inspect.getsource(function))
        except (OSError, TypeError):
            raise NotCarriedError(f"there is no source of {name}") from None
        tree = ast.parse(source).body[0]
        assert isinstance(tree, ast.FunctionDef)
        if tree.decorator_list:
            raise NotCarriedError(f"{name} has a decorator")
        self._check_environment(function, tree, params)
        if known is not None:
            return
        self._functions[name] = function
        for used in sorted(self._names(tree)):
            self._take_name(name, used, function.__globals__)
        self._sources[name] = source.rstrip() + "\n"

    def _names(self, tree: ast.FunctionDef) -> set[str]:
        """Global names that the body may read; annotations are not computed."""
        parts: list[ast.AST] = [*tree.body, *tree.args.defaults]
        parts += [one for one in tree.args.kw_defaults if one is not None]
        nodes = [node for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)]
        own = {argument.arg for argument in ast.walk(tree) if isinstance(argument, ast.arg)}
        own |= {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
        notes = {
            name.id
            for part in parts
            for node in ast.walk(part)
            if isinstance(node, ast.AnnAssign)
            for name in ast.walk(node.annotation)
            if isinstance(name, ast.Name)
        }
        return {node.id for node in nodes} - own - notes

    def _take_name(self, function: str, name: str, known: Mapping[str, Any]) -> None:
        if name not in known:
            if hasattr(builtins, name):
                return
            raise NotCarriedError(f"{function} uses {name}, which is not defined")
        value = known[name]
        if isinstance(value, types.FunctionType):
            self._take(value)
            return
        if isinstance(value, types.ModuleType) and value.__name__ in _MODULES:
            line = f"import {value.__name__} as {name}"
        elif isinstance(value, (int, float, str)):
            line = f"{name} = {value!r}"
        else:
            raise NotCarriedError(f"{function} uses {name}, a {type(value).__name__}")
        if self._lines.setdefault(name, line) != line:
            raise NotCarriedError(f"there are two meanings of {name}")

    def _check_environment(
        self, function: Any, tree: ast.FunctionDef, params: Mapping[str, Any] | None
    ) -> None:
        """Whether what it reads of the environment, its first argument, exists."""
        if not tree.args.args:
            return
        first = tree.args.args[0].arg
        defaults = {
            name: one.default for name, one in inspect.signature(function).parameters.items()
        }
        for node in ast.walk(tree):
            whose = getattr(node, "value", None)
            if not isinstance(whose, ast.Name) or whose.id != first:
                continue
            if isinstance(node, ast.Attribute) and params is not None:
                if node.attr not in self._attributes:
                    raise NotCarriedError(f"{function.__name__} uses env.{node.attr}")
            elif isinstance(node, ast.Subscript) and params is not None:
                key: Any = node.slice
                if isinstance(key, ast.Name):
                    field = {**defaults, **params}.get(key.id)
                else:
                    field = getattr(key, "value", None)
                if field not in self._fields:
                    raise NotCarriedError(f"{function.__name__} reads the field {field}")
