"""What a connection to `mayfly serve` knows of its world, for the plain client and asyncio's."""

from __future__ import annotations

import difflib
import json
from collections import deque
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from mayfly import _messages as messages
from mayfly import _protocol as protocol
from mayfly import client_region, drawings, errors
from mayfly._protocol import (
    Event,
    RemoteCamera,
    RemoteField,
    RemotePhoto,
    RemoteStatistics,
    Turn,
)
from mayfly._sealed import Sealed
from mayfly._wire import Inbox, Request, Steps, T, operation, padded, read_text

G = TypeVar("G", bound="GroupFields")


class Subscription:
    """Fields that come regularly; `subscription["joint.angle"]` is the newest array.

    Arrays have the shape (instances, components) and cannot be written; each state has new ones.
    """

    def __init__(self, number: int, fields: list[tuple[RemoteField, int]]) -> None:
        self.number = number
        self.tick = -1  # of the newest state; -1: none has come yet
        self.time = 0.0  # [s]
        self.lost = 0  # states that were dropped so far because this reader was slow
        self.states = 0  # that came so far
        self._values: dict[str, npt.NDArray[Any]] = {}
        self._end = ""  # why nothing comes any more
        self._fields = fields
        sizes = (count * field.components * field.dtype.itemsize for field, count in fields)
        self._size = sum(padded(size, 8) for size in sizes)  # [byte] of a state's values

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """The newest values of a field; KeyError before the first state."""
        return self._values[name]

    def __repr__(self) -> str:
        state = self._end or f"{self.states} states, {self.lost} lost, t = {self.time:g} s"
        return f"<Subscription: {', '.join(field.name for field, _ in self._fields)}; {state}>"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._values)

    def _raise_ended(self) -> None:
        if self._end:
            raise errors.ClosedError(f"the subscription has ended: {self._end}")

    def _take(self, payload: bytes) -> None:
        _, lost, self.tick, nanoseconds = messages.ANSWER_STATE.unpack(payload)
        self.time = nanoseconds / 1e9
        self.lost += lost
        self.states += 1
        at = messages.ANSWER_STATE.size
        for field, instances in self._fields:
            count = instances * field.components
            values = np.frombuffer(payload, field.dtype, count, at)
            self._values[field.name] = values.reshape(instances, field.components)
            at += padded(count * field.dtype.itemsize, 8)


class GroupFields(Sealed):
    """A group of the world and its fields: what the plain and the asyncio client share."""

    def __init__(self, world: Session[Any], number: int, name: str, count: int) -> None:
        self._world = world
        self.number = number
        self.name = name
        self.count = count  # instances
        self.fields: dict[str, RemoteField] = {}
        self._is_gone = False  # not in the world that is served
        self._seal()

    def __len__(self) -> int:
        return self.count

    def _in_brief(self) -> str:
        return f"{self.name}, {self.count} robots, {len(self.fields)} fields"

    @operation
    def subscribe(self, *names: str, period: float = 0.0) -> Steps[Subscription]:
        """Fields of all robots at each multiple of `period` [s]; 0: at every step."""
        fields = [self._field(name) for name in names]
        made = self._world._new_subscription([(field, self.count) for field in fields])
        entries = (messages.ENTRY.pack(field.number, 0, messages.ALL) for field in fields)
        head = (made.number, len(fields), protocol.nanoseconds(period))
        try:
            yield from messages.SUBSCRIBE.ask(*head, tail=b"".join(entries))
        except errors.MayflyError:
            self._world._forget(made)
            raise
        if self._world._sharing is not None:
            self._world._sharing.ask(made.number, made._size)
        return made

    @operation
    def describe(self) -> Steps[dict[str, Any]]:
        """The model of the robots, as `mayfly info --json` shows it.

        "links", "joints", "sensors", "cameras" and so on are lists of dictionaries with "name", in
        the order of the elements of fields; indices in them count from 0, None: none. "vehicle" has
        the parameters of a vehicle as its file has them, such as {"quadrotor": {"mass": 0.75}}; the
        wheelbase of {"car": ...} is "front" + "rear" [m]. "servos" has the gain, damping, effort,
        speed and backlash of each joint's servo under `articulated`. "world_gravity" is a vector
        [m/s^2] in the world frame.
        """
        described: dict[str, Any] = yield from messages.MODEL.ask_for(json.loads, self.number)
        return described

    @operation
    def reset(self, first: int = 0, count: int | None = None) -> Steps[None]:
        """Resets robots to their initial state."""
        yield from protocol.reset(self.number, first, count)

    @operation
    def place(
        self,
        positions: npt.ArrayLike,
        orientations: npt.ArrayLike = (1.0, 0.0, 0.0, 0.0),
        first: int = 0,
        count: int | None = None,
    ) -> Steps[None]:
        """Resets the robots first .. first + count - 1 and puts their bases elsewhere, at rest.

        Positions [m] and orientations (w, x, y, z) are in the world frame and are broadcast. The
        ground is not taken into account; a later `reset` returns to the initial state.
        """
        rows = self._rows(first, count)
        poses = np.empty((rows, 7), "<f8")
        poses[:, :3] = positions
        poses[:, 3:] = orientations
        yield from messages.SET_POSES.ask(self.number, first, rows, tail=poses.tobytes())

    @operation
    def switch(self, motion: str, first: int = 0, count: int | None = None) -> Steps[None]:
        """Switches robots to another motion: "rigid", "articulated", ..."""
        motions = protocol.MOTIONS
        if motion not in motions:
            raise errors.ArgumentError(f"expected a motion of {', '.join(motions)}")
        rows = messages.ALL if count is None else count
        yield from messages.SWITCH.ask(self.number, first, rows, motions.index(motion))

    @operation
    def photo(self, camera: str, robot: int = 0, kind: str = "color") -> Steps[RemotePhoto]:
        """Takes a picture by a robot's camera, now, whatever its rate and delay.

        Args:
            camera: its name.
            robot: number of the robot in the group.
            kind: "color" (uint8), "depth" (float32 [m]) or "segmentation" (int32: group, robot,
                link). The world waits meanwhile.

        """
        return (yield from self._world._take_photo(self.number, camera, robot, kind))

    def write(
        self, name: str, values: npt.ArrayLike, first: int = 0, count: int | None = None
    ) -> None:
        """Writes an input of the robots first .. first + count - 1; values are broadcast.

        In `lock_step` it is sent at the end of the turn, otherwise at once. What the server refuses
        is raised by a later call.
        """
        self._world._write(self._entry(name, values, first, count))

    def _run(self, steps: Steps[T]) -> Any:
        return self._world._run(steps)

    def _field(self, name: str) -> RemoteField:
        if self._is_gone:
            raise errors.NotFoundError(
                f"group {self.name} has no field {name}: another world is served; "
                "take its groups from the connection anew"
            )
        if name not in self.fields:
            near = difflib.get_close_matches(name, self.fields, 1)
            hint = f", did you mean {near[0]!r}?" if near else ""
            raise errors.NotFoundError(f"group {self.name} has no field {name}{hint}")
        return self.fields[name]

    def _entry(self, name: str, values: npt.ArrayLike, first: int, count: int | None) -> bytes:
        field = self._field(name)
        if not field.is_writable:
            raise errors.ArgumentError(
                f"field {name} is no input, or a system of the scene writes it"
            )
        rows = self._rows(first, count)
        array = np.asarray(values, field.dtype)
        if array.ndim == 1 and array.shape[0] == rows and field.components == 1:
            array = array[:, None]
        return protocol.write_entry(field, first, np.broadcast_to(array, (rows, field.components)))

    def _rows(self, first: int, count: int | None) -> int:
        rows = self.count - first if count is None else count
        if first < 0 or rows < 1 or first + rows > self.count:
            raise errors.ArgumentError(f"expected robots within 0 .. {self.count - 1}")
        return rows


class Session(Sealed, Generic[G]):
    """What a connection knows of its world: all of both clients but input and output."""

    _settable = frozenset({"timeout"})
    _group: type[G]

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout  # [s] for answers
        self.events: deque[Event] = deque(maxlen=4096)  # that came and were not taken
        self.events_lost = 0  # oldest ones that were dropped, because nobody took them
        self.step_ns = 0
        self.title = ""
        self.groups: dict[str, G] = {}
        self._known: dict[str, G] = {}  # of worlds before, which the program may hold
        self._subscriptions: dict[int, Subscription] = {}
        self._sharing: client_region.Sharing | None = None
        self._found: dict[int, dict[str, RemoteCamera]] = {}  # cameras that were asked for
        self._links: dict[str, list[str]] = {}  # names of the links of groups, likewise
        self._controls = drawings.ControlList()
        self._inbox = Inbox()
        self._tag = 0
        self._turn: Turn | None = None
        self._pending: list[bytes] | None = None  # writes of the present turn
        self._is_over = False
        self._refused: errors.MayflyError | None = None  # an error of an earlier write

    def __getitem__(self, group: str) -> G:
        """The group of that name."""
        if group not in self.groups:
            raise errors.NotFoundError(f"there is no group {group}: {', '.join(self.groups)}")
        return self.groups[group]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.groups)

    def __repr__(self) -> str:
        groups = ", ".join(f"{one.count} {name}" for name, one in self.groups.items()) or "empty"
        return f"<{type(self).__name__}: {groups}>"

    def _transmit(self, data: bytes) -> None:
        raise NotImplementedError

    def _run(self, steps: Steps[T]) -> Any:
        raise NotImplementedError

    # ---- time and states -----------------------------------------------------------------------

    @operation
    def pause(self, on: bool = True) -> Steps[None]:
        """Pauses the world, or lets it go on."""
        yield from messages.PAUSE.ask(on)

    @operation
    def step(self, steps: int = 1) -> Steps[None]:
        """Simulates steps of a paused world, and waits until they are done."""
        yield from messages.STEP.ask(steps)

    @operation
    def set_speed(self, speed: float) -> Steps[None]:
        """Simulated seconds per second; 0: as fast as possible."""
        yield from messages.SPEED.ask(speed)

    @operation
    def snapshot(self) -> Steps[bytes]:
        """The state of the whole world, for `restore` on a server of the same scene."""
        return (yield from messages.SNAPSHOT.ask_for(bytes))

    @operation
    def restore(self, image: bytes) -> Steps[None]:
        """Restores a snapshot."""
        yield from messages.RESTORE.ask(tail=image)

    @operation
    def reset(self) -> Steps[None]:
        """Resets all robots of all groups."""
        yield from protocol.reset(messages.ALL, 0, None)

    @operation
    def photo(self, camera: str, kind: str = "color") -> Steps[RemotePhoto]:
        """Takes a picture by a camera of the scene's file, now; see RemoteGroup.photo."""
        return (yield from self._take_photo(messages.ALL, camera, 0, kind))

    @operation
    def watch(self, *names: str) -> Steps[None]:
        """Which events come: "fault", "late", ...; none: no events."""
        known = messages.EVENT_NAMES
        for name in names:
            if name not in known:
                raise errors.ArgumentError(f"expected events of {', '.join(known)}")
        yield from messages.EVENTS.ask(sum(1 << known.index(name) for name in set(names)))

    @operation
    def statistics(self, hash: bool = False) -> Steps[RemoteStatistics]:
        """Figures of the world and this connection; `hash`: that of the world's state, too."""
        return (yield from messages.STATISTICS.ask_for(protocol.statistics, hash))

    @operation
    def unsubscribe(self, subscription: Subscription) -> Steps[None]:
        """Ends a subscription."""
        self._forget(subscription)  # first: its shared memory ends when the server reads this
        yield from messages.UNSUBSCRIBE.ask(subscription.number)
        if self._sharing is not None:
            self._sharing.drop(subscription.number)

    def _list_cameras(self, group: int) -> Steps[dict[str, RemoteCamera]]:
        if group not in self._found:
            head = (group, 0, 0, messages.PHOTO_LIST)
            self._found[group] = yield from messages.PHOTO.ask_for(protocol.cameras, *head)
        return self._found[group]

    def _take_photo(self, group: int, camera: str, robot: int, kind: str) -> Steps[RemotePhoto]:
        kinds = list(protocol.PHOTO_KINDS)
        if kind not in kinds:
            raise errors.ArgumentError(f"expected a picture of {', '.join(kinds)}: {kind!r}")
        known = yield from self._list_cameras(group)
        if camera not in known:
            raise errors.NotFoundError(f"there is no camera {camera}: {', '.join(known)}")
        head = (group, robot, known[camera].number, kinds.index(kind))
        return (yield from messages.PHOTO.ask_for(protocol.photo, *head))

    # ---- drawings and controls -----------------------------------------------------------------

    @operation
    def draw(
        self,
        layer: str,
        kind: str,
        numbers: npt.ArrayLike,
        *,
        text: str = "",
        color: drawings.Color = None,
        size: float = 0.0,
        on: Any = None,
    ) -> Steps[None]:
        """Draws a layer into the picture, in place of what had its name, until `erase`.

        The arguments are those of `World.draw`. Pages show it (`mayfly serve --page`), and
        recordings keep it. It belongs to this connection, and ends with it.
        """
        made = drawings.drawing(kind, numbers, text, color, size)
        carrier = drawings.carrier_of(kind, on)
        place = (messages.ALL, 0, 0) if carrier is None else (yield from self._carrier(*carrier))
        name, words = layer.encode(), made.text.encode()
        head = (made.kind, made.color, made.size, *place, made.numbers.size, len(name), len(words))
        yield from messages.DRAW.ask(*head, tail=made.numbers.tobytes() + name + words)

    def _carrier(self, group: Any, robot: int, link: Any) -> Steps[tuple[int, int, int]]:
        found = self[group] if isinstance(group, str) else group
        if not isinstance(link, str):
            return found.number, robot, link
        if found.name not in self._links:
            described = yield from messages.MODEL.ask_for(json.loads, found.number)
            self._links[found.name] = [part["name"] for part in described["links"]]
        known = self._links[found.name]
        if link not in known:
            raise errors.NotFoundError(f"group {found.name} has no link {link}: {', '.join(known)}")
        return found.number, robot, known.index(link)

    @operation
    def erase(self, layer: str | None = None) -> Steps[None]:
        """Removes a layer that this connection has drawn; None: all of them."""
        yield from messages.CLEAR.ask(tail=(layer or "").encode())

    @operation
    def slider(
        self,
        name: str,
        low: float,
        high: float,
        *,
        value: float | None = None,
        step: float = 0.0,
        unit: str = "",
    ) -> Steps[drawings.Control]:
        """Puts a slider on the pages of the world; `value` None: in the middle."""
        start = 0.5 * (low + high) if value is None else value
        made = self._controls.make(drawings.SLIDER, name, unit, low, high, step, start)
        return (yield from self._show(made))

    @operation
    def button(self, name: str) -> Steps[drawings.Control]:
        """Puts a button on the pages of the world; its value counts how often it was pressed."""
        made = self._controls.make(drawings.BUTTON, name, "", 0, 1, 0, 0)
        return (yield from self._show(made))

    @operation
    def checkbox(self, name: str, value: bool = False) -> Steps[drawings.Control]:
        """Puts a checkbox on the pages of the world; its value is 0 or 1."""
        made = self._controls.make(drawings.CHECKBOX, name, "", 0, 1, 0, float(value))
        return (yield from self._show(made))

    @operation
    def remove_control(self, name: str) -> Steps[None]:
        """Takes a slider, button or checkbox off the pages."""
        number = self._controls.take(name)._number
        yield from messages.CONTROL.ask(number, drawings.NONE, 0, 0, 0, 0, 0, 0)

    def _show(self, made: drawings.Control) -> Steps[drawings.Control]:
        name, unit = made.name.encode(), made._unit.encode()
        head = (made._number, made._kind, *made._limits, len(name), len(unit))
        yield from messages.CONTROL.ask(*head, tail=name + unit)
        return self._controls.add(made)

    def _notice(self, control: drawings.Control) -> None:
        """People have changed a control."""
        raise NotImplementedError

    # ---- another world, and more robots ---------------------------------------------------------

    @operation
    def load(self, path: str | None = None, *, text: str | None = None) -> Steps[None]:
        """Serves another scene, or a robot, instead of the present one, from time 0 on.

        The subscriptions of all connections end. After an error the old world goes on.

        Args:
            path: a file below the server's folder of files (`mayfly serve --files`).
            text: or the YAML text of a scene; all files that it names must be below that folder.

        """
        if (path is None) == (text is None):
            raise errors.ArgumentError("expected the path of a file or the text of a scene")
        if path == "":
            raise errors.ArgumentError("expected the path of a file, found an empty text")
        yield from messages.LOAD.ask(text is not None, tail=(path or text or "").encode())
        yield from self._renew()

    @operation
    def spawn(
        self,
        poses: npt.ArrayLike,
        *,
        file: str | None = None,
        group: str | None = None,
        name: str = "",
        height: float = 0.0,
    ) -> Steps[G]:
        """Adds robots to the running world, as another group behind the others; returns it.

        The other robots go on with the same bits, as far as they do not touch the new ones.

        Args:
            poses: x [m], y [m] and heading [rad] of each robot; it stands on the ground there.
            file: a robot's file below the server's folder of files (`mayfly serve --files`).
            group: or the name of a group whose robots they are like.
            name: of their group; "": the server chooses one.
            height: [m] added to all heights.

        """
        if (file is None) == (group is None):
            raise errors.ArgumentError("expected a robot's file or the name of a group")
        rows = np.atleast_2d(np.asarray(poses, "<f8"))
        if rows.ndim != 2 or rows.shape[1] != 3:
            raise errors.ArgumentError("expected poses of x, y and heading")
        source, own = (file or group or "").encode(), name.encode()
        head = (len(rows), len(source), len(own), group is not None, height)
        yield from messages.SPAWN.ask(*head, tail=rows.tobytes() + source + own)
        yield from self._renew()
        return list(self.groups.values())[-1]

    @operation
    def refresh(self) -> Steps[None]:
        """Reads title, step, groups and fields again: after another connection's load or spawn.

        The event "world" tells of it: its value is 0 or 1 for robots that joined, 2 for another
        world. Groups that are no longer there have no fields.
        """
        yield from self._renew()

    def _hello(self, token: str) -> Steps[None]:
        secret = token.encode()
        head = (messages.MAGIC, messages.MAJOR, messages.MINOR, len(secret))
        yield from messages.HELLO.ask_for(self._read_welcome, *head, tail=secret)
        yield from messages.LIST.ask_for(self._read_listing)

    def _renew(self) -> Steps[None]:
        yield from messages.WORLD.ask_for(self._read_welcome)
        yield from messages.LIST.ask_for(self._read_listing)

    def _read_welcome(self, data: bytes) -> None:
        found = messages.ANSWER_WELCOME.read(data)
        title = read_text(data, messages.ANSWER_WELCOME.size)
        vars(self).update(step_ns=found["step"], title=title)
        if self._sharing is not None:
            self._sharing.is_on &= found["minor"] >= 2

    def _read_listing(self, data: bytes) -> None:
        for group in self.groups.values():
            group.fields.clear()
            group._is_gone = True
        self._known.update(self.groups)
        self.groups.clear()
        self._found.clear()
        self._links.clear()
        for number, (name, count, fields) in enumerate(protocol.listing(data)):
            group = self._known.pop(name, None) or self._group(self, number, name, count)
            vars(group).update(number=number, count=count, _is_gone=False)
            group.fields.update((field.name, field) for field in fields)
            self.groups[name] = group

    # ---- subscriptions and writes --------------------------------------------------------------

    def _new_subscription(self, fields: list[tuple[RemoteField, int]]) -> Subscription:
        free = (n for n in range(messages.SUBSCRIPTIONS) if n not in self._subscriptions)
        number = next(free, None)
        if number is None:
            most = messages.SUBSCRIPTIONS
            raise errors.LimitError(f"a connection has at most {most} subscriptions")
        return self._subscriptions.setdefault(number, Subscription(number, fields))

    def _forget(self, subscription: Subscription) -> None:
        self._subscriptions.pop(subscription.number, None)
        subscription._end = "the program gave it up"

    def _forget_all(self) -> None:
        for number, subscription in self._subscriptions.items():
            subscription._end = "another world is served"
            if self._sharing is not None:
                self._sharing.drop(number)
        self._subscriptions.clear()

    def _write(self, entry: bytes) -> None:
        if self._pending is not None:
            self._pending.append(entry)
        else:
            self._send_writes([entry], messages.ANY_TICK, go=False)

    def _send_writes(self, entries: list[bytes], tick: int, go: bool) -> None:
        if self._sharing is None or not self._sharing.write(tick, entries, go):
            request = messages.WRITE.ask(tick, len(entries), go, tail=b"".join(entries))
            self._transmit(request.frame(0))

    # ---- messages ------------------------------------------------------------------------------

    def _next_tag(self) -> int:
        self._tag = self._tag % (client_region.TAG - 1) + 1
        return self._tag

    def _raise_refused(self) -> None:
        if self._refused is not None:
            refused, self._refused = self._refused, None
            raise refused

    def _result(self, request: Request[T], kind: int, data: bytes) -> T:
        """What an answer says, or its error."""
        self._raise_refused()
        if kind == messages.ANSWER_ERROR.kind:
            raise protocol.error(data)
        answer = request.message.answer
        if answer is None or kind != answer.kind:
            raise errors.CorruptError(f"the server answered by an unknown message {kind}")
        return request.read(data)

    def _keep(self, kind: int, tag: int, data: bytes) -> None:
        """Takes a message that is no answer to a request that waits."""
        if self._sharing is not None:
            message = self._sharing.read(kind, tag, data)
            if message is None:
                return
            kind, data = message
        if kind == messages.ANSWER_STATE.kind:
            subscription = self._subscriptions.get(messages.ANSWER_STATE.unpack(data)[0])
            if subscription is not None:
                subscription._take(data)
        elif kind == messages.ANSWER_TURN.kind:
            self._turn = protocol.turn(data)
        elif kind == messages.ANSWER_EVENT.kind:
            event = protocol.event(data)
            vars(self)["events_lost"] += len(self.events) == self.events.maxlen
            if event.name == "world" and event.value == messages.WORLD_LOADED:
                self._forget_all()  # they ended with the old world
            self.events.append(event)
        elif kind == messages.ANSWER_CHANGED.kind:
            number, value, *_ = messages.ANSWER_CHANGED.unpack(data)
            control = self._controls.move(number, value)
            if control is not None:
                self._notice(control)
        elif kind == messages.ANSWER_ERROR.kind:  # of a write
            self._refused = protocol.error(data)
        elif kind == messages.ANSWER_BYE.kind:
            self._is_over = True
            raise errors.StoppedError(read_text(data, 0))
        else:
            raise errors.CorruptError(f"the server sent an unknown message {kind}")
