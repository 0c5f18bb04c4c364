"""S-expressions as RoboCup's simulators send them: `(name value (name value))(name ...)`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

Node: TypeAlias = str | list["Node"]

MOST_DEPTH = 64
MOST_NODES = 65536


class Malformed(ValueError):
    """The text is no sequence of S-expressions."""


def parse(data: bytes) -> list[Node]:
    """The expressions and words of a message; Malformed if brackets do not match."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed("expected UTF-8") from error
    top: list[Node] = []
    open_nodes = [top]
    nodes = 0
    for word in text.replace("(", " ( ").replace(")", " ) ").split():
        nodes += 1
        if nodes > MOST_NODES:
            raise Malformed(f"expected at most {MOST_NODES} words")
        if word == "(":
            if len(open_nodes) > MOST_DEPTH:
                raise Malformed(f"expected at most {MOST_DEPTH} levels of brackets")
            node: list[Node] = []
            open_nodes[-1].append(node)
            open_nodes.append(node)
        elif word == ")":
            open_nodes.pop()
            if not open_nodes:
                raise Malformed("a bracket is closed that was not opened")
        else:
            open_nodes[-1].append(word)
    if len(open_nodes) > 1:
        raise Malformed("a bracket is not closed")
    return top


def number(node: Node) -> float:
    """A finite number; Malformed if the node is none."""
    if isinstance(node, str):
        try:
            value = float(node)
        except ValueError:
            value = math.nan
        if math.isfinite(value):
            return value
    raise Malformed(f"expected a number, found {write(node)[:40]}")


def numbers(nodes: Sequence[Node]) -> list[float]:
    """Finite numbers; Malformed if a node is none. Faster than one by one."""
    try:
        found = [float(node) for node in nodes]  # type: ignore[arg-type]
        if math.isfinite(math.fsum(found)):
            return found
    except (TypeError, ValueError, OverflowError):
        pass
    return [number(node) for node in nodes]


def word(node: Node) -> str:
    """A word; Malformed if the node is an expression."""
    if isinstance(node, str):
        return node
    raise Malformed(f"expected a word, found {write(node)[:40]}")


def find(node: Node, name: str) -> list[Node] | None:
    """The first expression `(name ...)` directly in a node, or None."""
    if isinstance(node, list):
        for part in node:
            if isinstance(part, list) and part and part[0] == name:
                return part
    return None


def write(node: Node) -> str:
    """The text of a node."""
    if isinstance(node, str):
        return node
    return "(" + " ".join(write(part) for part in node) + ")"
