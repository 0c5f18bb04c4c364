"""A client of `mayfly serve`: a world in another process, or on another computer.

    with mayfly.connect("127.0.0.1:8766") as world:
        robots = world["robot"]
        state = robots.subscribe("joint.angle", "joint.rate", period=0.01)
        for turn in world.lock_step(period=0.01):
            robots.write("joint.target", -0.1 * state["joint.angle"])
            if turn.time > 10:
                break

docs/reference/protocol.md specifies the messages, lock-step and what a slow reader loses.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Generator
from types import TracebackType
from typing import Any

import numpy.typing as npt

from mayfly import _messages as messages
from mayfly import _protocol as protocol
from mayfly import client_region, errors
from mayfly._protocol import (
    Event,
    RemoteCamera,
    RemoteField,
    RemotePhoto,
    RemoteStatistics,
    Turn,
)
from mayfly._session import GroupFields, Session, Subscription
from mayfly._wire import Request, T

__all__ = [
    "Event",
    "RemoteCamera",
    "RemoteField",
    "RemoteGroup",
    "RemotePhoto",
    "RemoteStatistics",
    "RemoteWorld",
    "Subscription",
    "Turn",
    "connect",
]


class RemoteGroup(GroupFields):
    """A group of the world: its fields, and how to read, write, reset and switch its robots."""

    _world: RemoteWorld

    def subscribe(self, *names: str, period: float = 0.0) -> Subscription:
        """Fields of all robots at each multiple of `period` [s]; 0: at every step."""
        with self._world._subscribing(self, names, period) as (made, request):
            self._world._ask(request)
        return made

    def describe(self) -> dict[str, Any]:
        """The model of the robots, as `mayfly info --json` shows it.

        "links", "joints", "sensors", "cameras" and so on are lists of dictionaries with "name", in
        the order of the elements of fields; indices in them count from 0, None: none. "vehicle" has
        the parameters of a vehicle as its file has them, such as {"quadrotor": {"mass": 0.75}}; the
        wheelbase of {"car": ...} is "front" + "rear" [m]. "servos" has the gain, damping, effort,
        speed and backlash of each joint's servo under `articulated`. "world_gravity" is a vector
        [m/s^2] in the world frame.
        """
        return self._world._ask(protocol.describe(self.number))

    def reset(self, first: int = 0, count: int | None = None) -> None:
        """Resets robots to their initial state."""
        self._world._ask(protocol.reset(self.number, first, count))

    def place(
        self,
        positions: npt.ArrayLike,
        orientations: npt.ArrayLike = (1.0, 0.0, 0.0, 0.0),
        first: int = 0,
        count: int | None = None,
    ) -> None:
        """Resets the robots first .. first + count - 1 and puts their bases elsewhere, at rest.

        Positions [m] and orientations (w, x, y, z) are in the world frame and are broadcast. The
        ground is not taken into account; a later `reset` returns to the initial state.
        """
        rows = self._rows(first, count)
        self._world._ask(protocol.place(self.number, rows, positions, orientations, first))

    def switch(self, motion: str, first: int = 0, count: int | None = None) -> None:
        """Switches robots to another motion: "rigid", "articulated", ..."""
        self._world._ask(protocol.switch(self.number, motion, first, count))

    @property
    def cameras(self) -> dict[str, RemoteCamera]:
        """Cameras that each robot has, by name."""
        return self._world._cameras(self.number)

    def photo(self, camera: str, robot: int = 0, kind: str = "color") -> RemotePhoto:
        """Takes a picture by a robot's camera, now, whatever its rate and delay.

        Args:
            camera: its name.
            robot: number of the robot in the group.
            kind: "color" (uint8), "depth" (float32 [m]) or "segmentation" (int32: group, robot,
                link). The world waits meanwhile.

        """
        return self._world._photo(self.number, camera, robot, kind)


class RemoteWorld(Session[RemoteGroup]):
    """A connection to a world. One thread at a time may use it."""

    _group = RemoteGroup
    _sharing: client_region.Sharing

    def __init__(
        self, address: str, token: str = "", timeout: float = 60.0, share: bool = True
    ) -> None:
        super().__init__(timeout)
        self._sharing = client_region.Sharing(share and "/" in address, self._transmit)
        self._found: dict[int, dict[str, RemoteCamera]] = {}  # cameras that were asked for
        self._socket = _open(address, timeout)
        try:
            self._ask_all(self._hello(token))
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> RemoteWorld:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection; the world goes on."""
        self._socket.close()
        self._sharing.close()

    # ---- time ----------------------------------------------------------------------------------

    def pause(self, on: bool = True) -> None:
        """Pauses the world, or lets it go on."""
        self._ask(messages.PAUSE.ask(on))

    def step(self, steps: int = 1) -> None:
        """Simulates steps of a paused world, and waits until they are done."""
        self._ask(messages.STEP.ask(steps))

    def set_speed(self, speed: float) -> None:
        """Simulated seconds per second; 0: as fast as possible."""
        self._ask(messages.SPEED.ask(speed))

    def lock_step(self, period: float = 0.0, limit: float = 1.0) -> Generator[Turn, None, None]:
        """Turns, at once and at each multiple of `period` [s]; 0: at every step.

        The world waits while the body of the loop runs, at most `limit` [s]; what the body writes
        acts before the next step. The world goes on by itself after the loop.
        """
        self._turn = None
        self._ask(protocol.lock_step(True, period, limit))
        try:
            while True:
                while self._turn is None:
                    self._receive(self.timeout)
                turn, self._turn = self._turn, None
                self._pending = []
                yield turn
                self._send_writes(self._pending, turn.tick, go=True)
                self._pending = None
        finally:
            writes, self._pending = self._pending, None
            if not self._is_over and self._socket.fileno() >= 0:
                with contextlib.suppress(errors.OperatingSystemError):  # the server is gone
                    if writes:
                        self._send_writes(writes, messages.ANY_TICK, go=False)
                    self._ask(protocol.lock_step(False))

    def wait(self, subscription: Subscription, timeout: float | None = None) -> bool:
        """Waits for the next state of a subscription; False: it did not come in time.

        A state that came during an earlier call does not count. Those of the steps of `step` come
        during that call, but the one of its last step comes after it: where a program needs the
        values of a certain tick, it waits while `subscription.tick` is less. ClosedError: the
        subscription has ended, by `unsubscribe` or with its world.
        """
        end = time.monotonic() + (self.timeout if timeout is None else timeout)
        states = subscription.states
        while subscription.states == states:
            subscription._raise_ended()
            left = end - time.monotonic()
            if left < 0 or not self._receive(left, patient=False):
                return False
        return True

    def poll(self) -> None:
        """Takes all that has come: states, and events into `events`."""
        while self._receive(0.0, patient=False):
            pass

    # ---- states --------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """The state of the whole world, for `restore` on a server of the same scene."""
        return self._ask(messages.SNAPSHOT.ask_for(bytes))

    def restore(self, image: bytes) -> None:
        """Restores a snapshot."""
        self._ask(messages.RESTORE.ask(tail=image))

    def reset(self) -> None:
        """Resets all robots of all groups."""
        self._ask(protocol.reset(messages.ALL, 0, None))

    @property
    def cameras(self) -> dict[str, RemoteCamera]:
        """Cameras of the scene's file, by name."""
        return self._cameras(messages.ALL)

    def photo(self, camera: str, kind: str = "color") -> RemotePhoto:
        """Takes a picture by a camera of the scene's file, now; see RemoteGroup.photo."""
        return self._photo(messages.ALL, camera, 0, kind)

    def watch(self, *names: str) -> None:
        """Which events come: "fault", "late", ...; none: no events."""
        self._ask(protocol.watch(names))

    def statistics(self, hash: bool = False) -> RemoteStatistics:
        """Figures of the world and this connection; `hash`: that of the world's state, too."""
        return self._ask(protocol.statistics(hash))

    # ---- another world, and more robots ---------------------------------------------------------

    def load(self, path: str | None = None, *, text: str | None = None) -> None:
        """Serves another scene, or a robot, instead of the present one, from time 0 on.

        The subscriptions of all connections end. After an error the old world goes on.

        Args:
            path: a file below the server's folder of files (`mayfly serve --files`).
            text: or the YAML text of a scene; all files that it names must be below that folder.

        """
        self._ask(protocol.load(path, text))
        self.refresh()

    def spawn(
        self,
        poses: npt.ArrayLike,
        *,
        file: str | None = None,
        group: str | None = None,
        name: str = "",
        height: float = 0.0,
    ) -> RemoteGroup:
        """Adds robots to the running world, as another group behind the others; returns it.

        The other robots go on with the same bits, as far as they do not touch the new ones.

        Args:
            poses: x [m], y [m] and heading [rad] of each robot; it stands on the ground there.
            file: a robot's file below the server's folder of files (`mayfly serve --files`).
            group: or the name of a group whose robots they are like.
            name: of their group; "": the server chooses one.
            height: [m] added to all heights.

        """
        self._ask(protocol.spawn(poses, file, group, name, height))
        self.refresh()
        return list(self.groups.values())[-1]

    def refresh(self) -> None:
        """Reads title, step, groups and fields again: after another connection's load or spawn.

        The event "world" tells of it: its value is 0 or 1 for robots that joined, 2 for another
        world. Groups that are no longer there have no fields.
        """
        self._ask_all(self._renewal())

    # ---- pictures ------------------------------------------------------------------------------

    def _cameras(self, group: int) -> dict[str, RemoteCamera]:
        if group not in self._found:
            self._found[group] = self._ask(protocol.cameras(group))
        return self._found[group]

    def _photo(self, group: int, camera: str, robot: int, kind: str) -> RemotePhoto:
        protocol.check_photo(kind)
        return self._ask(protocol.photo(group, self._cameras(group), camera, robot, kind))

    # ---- messages ------------------------------------------------------------------------------

    def _read_listing(self, data: bytes) -> None:
        super()._read_listing(data)
        self._found.clear()

    def unsubscribe(self, subscription: Subscription) -> None:
        """Ends a subscription."""
        self._forget(subscription)  # first: its shared memory ends when the server reads this
        self._ask(messages.UNSUBSCRIBE.ask(subscription.number))
        self._sharing.drop(subscription.number)

    def _transmit(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise errors.OperatingSystemError(f"cannot send: {error}") from error

    def _ask(self, request: Request[T]) -> T:
        requested = self._next_tag()
        self._transmit(request.frame(requested))
        while True:
            kind, tag, data = self._next(self.timeout)
            if tag == requested:
                return self._result(request, kind, data)
            self._keep(kind, tag, data)

    def _ask_all(self, requests: list[Request[None]]) -> None:
        for request in requests:
            self._ask(request)

    def _receive(self, seconds: float, patient: bool = True) -> bool:
        """Takes one message; without patience False if none begins in time."""
        if (
            not patient
            and not self._inbox
            and not select.select([self._socket], [], [], seconds)[0]
        ):
            return False
        self._keep(*self._next(self.timeout))
        self._raise_refused()
        return True

    def _next(self, seconds: float) -> tuple[int, int, bytes]:
        end = time.monotonic() + seconds
        while missing := self._inbox.missing():
            self._socket.settimeout(max(end - time.monotonic(), 1e-3))
            try:
                got = self._sharing.receive(self._socket, max(65536, missing))
            except TimeoutError as error:
                raise errors.StoppedError("nothing came in time") from error
            except OSError as error:
                raise errors.OperatingSystemError(f"cannot receive: {error}") from error
            if not got:
                self._is_over = True
                raise errors.OperatingSystemError("the server closed the connection")
            self._inbox.feed(got)
        return self._inbox.take()


def _split(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdigit():
        raise errors.ArgumentError(f"expected host:port or a path with a slash: {address!r}")
    return host.strip("[]"), int(port)


def _open(address: str, timeout: float) -> socket.socket:
    try:
        if "/" in address:
            made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            made.settimeout(timeout)
            made.connect(address)
            return made
        made = socket.create_connection(_split(address), timeout)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made
    except OSError as error:
        raise errors.OperatingSystemError(f"cannot connect to {address}: {error}") from error


def connect(
    address: str, token: str = "", timeout: float = 60.0, share: bool = True
) -> RemoteWorld:
    """Connects to `mayfly serve` at "host:port", "[::1]:port" or the path of its Unix socket.

    `token` is the one that the server prints for addresses other than loopback; `timeout` [s] is
    the longest time that an answer may take. `share`: values of large states and writes travel in
    shared memory where the server is at a Unix socket and grants it; the bits are the same.
    """
    return RemoteWorld(address, token, timeout, share)
