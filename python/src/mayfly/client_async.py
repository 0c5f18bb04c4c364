"""The client of `mayfly serve` for asyncio; `mayfly.client` has the plain one and the messages.

async with await mayfly.connect_async("127.0.0.1:8766") as world:
    robots = world["robot"]
    state = await robots.subscribe("joint.angle", period=0.01)
    async for turn in world.lock_step(period=0.01):
        robots.write("joint.target", -0.1 * state["joint.angle"])
        if turn.time > 10:
            break
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any

from mayfly import _messages as messages
from mayfly import _protocol as protocol
from mayfly import client, drawings, errors
from mayfly._protocol import Event, Turn
from mayfly._session import GroupFields, Session, Subscription
from mayfly._wire import Later, Request, Steps, T

__all__ = ["AsyncGroup", "AsyncWorld", "connect_async"]


class AsyncGroup(GroupFields, Later):
    """A group of the world: its fields, and how to read, write, reset and switch its robots."""

    _world: AsyncWorld


class AsyncWorld(Session[AsyncGroup], Later):
    """A connection to a world, for the tasks of one event loop; made by `connect_async`.

    Several tasks may use it at once: one follows states or events while another one asks.
    """

    _group = AsyncGroup

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, timeout: float
    ) -> None:
        super().__init__(timeout)
        self._reader = reader
        self._writer = writer
        self._answers: dict[int, asyncio.Future[tuple[int, bytes]]] = {}
        self._came = asyncio.Condition()
        self._calls: set[asyncio.Future[Any]] = set()  # functions of controls that run
        self._failure: errors.MayflyError | None = None  # why nothing comes any more
        self._task = asyncio.ensure_future(self._listen())

    async def __aenter__(self) -> AsyncWorld:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the connection; the world goes on."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            pass  # it was closed already

    # ---- time ----------------------------------------------------------------------------------

    async def lock_step(self, period: float = 0.0, limit: float = 1.0) -> AsyncIterator[Turn]:
        """Turns, at once and at each multiple of `period` [s]; 0: at every step.

        As `RemoteWorld.lock_step`. Leave the loop by `aclose()` of the iterator, or by its end, to
        let the world go on at once.
        """
        self._turn = None
        await self._ask(protocol.lock_step(True, period, limit))
        try:
            while True:
                await self._wait(lambda: self._turn is not None)
                turn, self._turn = self._turn, None
                assert turn is not None
                self._pending = []
                yield turn
                self._send_writes(self._pending, turn.tick, go=True)
                self._pending = None
                await self._drain()
        finally:
            writes, self._pending = self._pending, None
            if self._failure is None and not self._writer.is_closing():
                if writes:
                    self._send_writes(writes, messages.ANY_TICK, go=False)
                await self._ask(protocol.lock_step(False))

    # ---- states and events ---------------------------------------------------------------------

    async def each_state(self, subscription: Subscription) -> AsyncIterator[Subscription]:
        """The subscription, each time that a newer state of it has come.

        ClosedError: it has ended, by `unsubscribe` or with its world.
        """
        seen = -1 if subscription.states > 0 else 0  # one that has come is the first
        while True:
            await self._newer(subscription, seen)
            seen = subscription.states
            yield subscription

    async def _newer(self, subscription: Subscription, states: int) -> None:
        await self._wait(lambda: subscription.states != states or subscription._end != "")
        if subscription.states == states:
            subscription._raise_ended()

    async def each_event(self) -> AsyncIterator[Event]:
        """Events of the kinds that `watch` asked for, as they come."""
        while True:
            await self._wait(lambda: len(self.events) > 0)
            yield self.events.popleft()

    def _notice(self, control: drawings.Control) -> None:
        asyncio.get_running_loop().call_soon(self._tell_control, control)

    def _tell_control(self, control: drawings.Control) -> None:
        """Calls its function; one that is a coroutine becomes a task."""
        result = control._tell()
        if asyncio.iscoroutine(result):
            task = asyncio.ensure_future(result)
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)

    # ---- messages ------------------------------------------------------------------------------

    def _transmit(self, data: bytes) -> None:
        if self._failure is not None:
            raise self._failure
        self._writer.write(data)

    async def _drain(self) -> None:
        try:
            await self._writer.drain()
        except OSError as error:
            raise errors.OperatingSystemError(f"cannot send: {error}") from error

    async def _ask(self, request: Request[T]) -> T:
        tag = self._next_tag()
        waiting = self._answers[tag] = asyncio.get_running_loop().create_future()
        try:
            self._transmit(request.frame(tag))
            await self._drain()
            kind, data = await asyncio.wait_for(waiting, self.timeout)
        except asyncio.TimeoutError as error:
            raise errors.StoppedError("nothing came in time") from error
        finally:
            self._answers.pop(tag, None)
        return self._result(request, kind, data)

    async def _run(self, steps: Steps[T]) -> T:
        try:
            request = next(steps)
            while True:
                try:
                    answer = await self._ask(request)
                except errors.MayflyError as error:
                    request = steps.throw(error)
                else:
                    request = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result

    async def _wait(self, is_there: Callable[[], bool]) -> None:
        """Waits, without an end, until messages that came have made it true."""
        async with self._came:
            while not is_there():
                self._raise_refused()
                if self._failure is not None:
                    raise self._failure
                await self._came.wait()

    async def _listen(self) -> None:
        """Takes all that comes, until the connection ends."""
        try:
            while True:
                while missing := self._inbox.missing():
                    self._inbox.feed(await self._reader.readexactly(missing))
                kind, tag, data = self._inbox.take()
                waiting = self._answers.get(tag)
                if waiting is None:
                    self._keep(kind, tag, data)
                elif not waiting.done():
                    waiting.set_result((kind, data))
                async with self._came:
                    self._came.notify_all()
        except errors.MayflyError as error:  # the server says goodbye
            self._failure = error
        except (OSError, asyncio.IncompleteReadError) as error:
            self._failure = errors.OperatingSystemError(f"the connection ended: {error}")
        finally:
            self._is_over = True
            self._failure = self._failure or errors.ClosedError("the connection is closed")
            for waiting in self._answers.values():
                if not waiting.done():
                    waiting.set_exception(self._failure)
            async with self._came:
                self._came.notify_all()


async def connect_async(address: str, token: str = "", timeout: float = 60.0) -> AsyncWorld:
    """Connects to `mayfly serve` as `connect` does, for asyncio."""
    try:
        if "/" in address:
            reader, writer = await asyncio.open_unix_connection(address)
        else:
            host, port = client._split(address)
            reader, writer = await asyncio.open_connection(host, port)
    except OSError as error:
        raise errors.OperatingSystemError(f"cannot connect to {address}: {error}") from error
    world = AsyncWorld(reader, writer, timeout)
    try:
        await world._run(world._hello(token))
    except BaseException:
        await world.close()
        raise
    return world
