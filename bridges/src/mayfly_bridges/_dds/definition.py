"""DDS types from interface definitions in the words of ROS 2's `.msg` files.

    types = Library({"geometry_msgs/Point": "float64 x; float64 y; float64 z"})
    point = types.new("geometry_msgs/Point", x=1.0)

A type `package/Name` is `package::msg::dds_::Name_` on the wire, final and without keys, as the
middleware of ROS 2 makes it (and the SDK of Unitree, too).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

import cyclonedds.idl.types as idl_types
from cyclonedds.idl import make_idl_struct
from cyclonedds.idl.annotations import final

idl: Any = idl_types  # whose generic types mypy does not know
# Version 0.10 of cyclonedds, which the SDK of Unitree has, describes uint8 to others as octet; 11
# distinguishes the two on the wire, and makes 0.10 crash by uint8.
_OCTET = getattr(idl, "byte", idl.uint8)
_PRIMITIVES: dict[str, Any] = {
    "bool": bool,
    "uint8": _OCTET,
    "int8": idl.int8,
    "uint16": idl.uint16,
    "int16": idl.int16,
    "uint32": idl.uint32,
    "int32": idl.int32,
    "int64": idl.int64,
    "float32": idl.float32,
    "float64": idl.float64,
    "string": str,
}
_MEMBER = re.compile(r"(?P<kind>[\w/]+)(?P<array>\[(?P<count>\d*)\])? (?P<name>\w+)")


@dataclasses.dataclass(frozen=True)
class Member:
    """A member of a type: `count` None is one value, -1 a sequence, else an array's length."""

    name: str
    kind: str
    count: int | None


def parse(text: str) -> list[Member]:
    """The members of a definition; ValueError at what is none."""
    members = []
    for part in re.split(r"[;\n]", text):
        if not part.strip():
            continue
        found = _MEMBER.fullmatch(" ".join(part.split()))
        if found is None:
            raise ValueError(f"expected 'type name': {part!r}")
        length = found["count"]
        count = None if found["array"] is None else int(length) if length else -1
        members.append(Member(found["name"], found["kind"], count))
    return members


class Library:
    """Types by name; each may use those before it."""

    def __init__(self, definitions: Mapping[str, str]) -> None:
        self.members: dict[str, list[Member]] = {}
        self._kinds: dict[str, Any] = {}
        for name, text in definitions.items():
            self.members[name] = parse(text)
            self._kinds[name] = self._make(name)

    def kind(self, name: str) -> Any:
        """The class of a type, for topics."""
        return self._kinds[name]

    def new(self, type_name: str, /, **values: Any) -> Any:
        """A sample; members that are not given are zero or empty."""
        members = self.members[type_name]
        made = {m.name: self._zero(m) for m in members if m.name not in values}
        return self._kinds[type_name](**made, **values)

    def _make(self, name: str) -> Any:
        package, short = name.split("/")
        fields = {member.name: self._annotation(member) for member in self.members[name]}
        made = final(make_idl_struct(f"{short}_", f"{package}.msg.dds_.{short}_", fields))
        return made

    def _annotation(self, member: Member) -> Any:
        kind = _PRIMITIVES.get(member.kind) or self._kinds[member.kind]
        if member.count is None:
            return kind
        return idl.sequence[kind] if member.count < 0 else idl.array[kind, member.count]

    def _zero(self, member: Member) -> Any:
        if member.count == -1:
            return []
        if member.count is not None:
            return [self._zero(dataclasses.replace(member, count=None))] * member.count
        if member.kind in self._kinds:
            return self.new(member.kind)
        return {"string": "", "bool": False, "float32": 0.0, "float64": 0.0}.get(member.kind, 0)
