"""Messages between robots that are docked, or that see each other by infrared."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from mayfly import errors
from mayfly._native import call, encode, ffi, lib
from mayfly._sealed import Sealed
from mayfly.arrays import whole

if TYPE_CHECKING:
    from mayfly.group import Group
    from mayfly.world import World

__all__ = ["Message", "Messages"]


@dataclasses.dataclass(frozen=True)
class Message:
    """What a dock received.

    Attributes:
        dock: number of the dock, in the order of the model.
        type: any number: the user's.
        content: bytes, as many as the setting `size`; numpy.frombuffer reads numbers.

    """

    dock: int
    type: int
    content: bytes


def pack(type: int, content: bytes) -> Any:
    """A message for C."""
    data = bytes(content)
    if len(data) > lib.MF_MESSAGE_BYTES:
        raise ValueError(f"message: need at most {lib.MF_MESSAGE_BYTES} bytes, got {len(data)}")
    message = ffi.new("mf_Message *")
    message.type = whole(type, "message: type", 0, 2**32)
    message.size = len(data)
    ffi.memmove(message.content.bytes, data, len(data))
    return message


def unpack(message: Any) -> Message:
    """A message from C."""
    content = bytes(ffi.buffer(message.content.bytes, int(message.size)))
    return Message(int(message.dock), int(message.type), content)


def dock_number(model: Any, dock: int | str) -> int:
    """Number of a dock of a native model."""
    if not isinstance(dock, str):
        return whole(dock, "message: dock", 0, int(model.dock_count))
    number = int(lib.mf_model_find(model, lib.MF_ITEM_DOCK, encode(dock)))
    if number == lib.MF_NONE:
        raise errors.NotFoundError(f"message: there is no dock {dock!r}")
    return number


class Messages(Sealed):
    """The messages of a world: `World.messages`.

    A message goes to a dock: whoever is docked there gets it one step later, and reads it when it
    likes. Boxes are fields: `group["message.in"]`, `group["message.ready"]` (mayfly/messages.h).
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._seal()

    def _in_brief(self) -> str:
        return f"of {self.world!r}"

    def send(
        self, group: Group, robot: int, dock: int | str, type: int, content: bytes = b""
    ) -> None:
        """Puts a message into the outbox of a dock, between steps.

        Args:
            group: of the sender.
            robot: number in the group.
            dock: its name or number.
            type: any number: the user's.
            content: at most as many bytes as the setting `size`; an array's `tobytes()`.

        Raises:
            LimitError: the outbox is full.
            ArgumentError: too many bytes.

        """
        with self.world._lock:
            number = dock_number(group.model._use(), dock)
            place = whole(robot, "message: robot", 0, group.count)
            message = pack(type, content)
            call(lib.mf_message_send, group._use(), place, number, message)

    def receive(self, group: Group, robot: int, dock: int | str | None = None) -> Message | None:
        """Takes the oldest message that arrived at a dock; None: there is none.

        Args:
            group: of the receiver.
            robot: number in the group.
            dock: its name or number; None: any.

        """
        with self.world._lock:
            number = lib.MF_NONE if dock is None else dock_number(group.model._use(), dock)
            place = whole(robot, "message: robot", 0, group.count)
            out = ffi.new("mf_Message *")
            found = lib.mf_message_receive(group._use(), place, number, out)
            return unpack(out) if found else None

    @property
    def statistics(self) -> dict[str, int]:
        """Messages that were sent, unheard, delivered, lost, or overflowed, so far."""
        with self.world._lock:
            seen = lib.mf_messages_statistics(lib.mf_messages_of(self.world._use()))
            return {name: int(getattr(seen, name)) for name, _ in ffi.typeof(seen).fields}
