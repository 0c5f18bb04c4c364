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
from collections import deque
from collections.abc import Generator
from types import TracebackType

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
from mayfly._session import GroupFields, Session, Subscription
from mayfly._wire import Plain, Request, Steps, T

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


class RemoteGroup(GroupFields, Plain):
    """A group of the world: its fields, and how to read, write, reset and switch its robots."""

    _world: RemoteWorld

    @property
    def cameras(self) -> dict[str, RemoteCamera]:
        """Cameras that each robot has, by name."""
        return self._world._run(self._world._list_cameras(self.number))


class RemoteWorld(Session[RemoteGroup], Plain):
    """A connection to a world. One thread at a time may use it."""

    _group = RemoteGroup
    _sharing: client_region.Sharing

    def __init__(
        self, address: str, token: str = "", timeout: float = 60.0, share: bool = True
    ) -> None:
        super().__init__(timeout)
        self._moved: deque[drawings.Control] = deque()  # not reported yet
        self._depth = 0  # of calls
        self._sharing = client_region.Sharing(share and "/" in address, self._transmit)
        self._socket = _open(address, timeout)
        try:
            self._run(self._hello(token))
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
                self._tell_controls()
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
            self._tell_controls()
        return True

    def fileno(self) -> int:
        """The socket, for `select` and its like: `poll` when it is readable."""
        return self._socket.fileno()

    def poll(self) -> None:
        """Takes all that has come: states, events into `events`, and changes of controls."""
        while self._receive(0.0, patient=False):
            pass
        self._tell_controls()

    @property
    def cameras(self) -> dict[str, RemoteCamera]:
        """Cameras of the scene's file, by name."""
        return self._run(self._list_cameras(messages.ALL))

    def _notice(self, control: drawings.Control) -> None:
        self._moved.append(control)

    def _tell_controls(self) -> None:
        """Calls the functions of controls that have changed, outside of other calls."""
        while self._moved and self._depth == 0:
            self._moved.popleft()._tell()

    # ---- messages ------------------------------------------------------------------------------

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

    def _run(self, steps: Steps[T]) -> T:
        self._depth += 1
        try:
            result = self._run_all(steps)
        finally:
            self._depth -= 1
        self._tell_controls()
        return result

    def _run_all(self, steps: Steps[T]) -> T:
        try:
            request = next(steps)
            while True:
                try:
                    answer = self._ask(request)
                except errors.MayflyError as error:
                    request = steps.throw(error)
                else:
                    request = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result

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
