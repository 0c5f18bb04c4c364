"""A world live in the browser while a Python program steps it: the page of `mayfly view`, served by
this process with nothing but the standard library.

The program takes the pictures, in update(); a page that draws slowly gets fewer of them and holds
nothing up.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.server
import json
import os
import struct
import sys
import threading
import time
import warnings
import webbrowser
from typing import Any

from mayfly import errors
from mayfly._native import Native, encode, ffi, lib, take_text, text
from mayfly.context import default_context
from mayfly.records import film_of
from mayfly.world import World

__all__ = ["Viewer"]

_PORT = 8765  # as mayfly view
_MAGIC, _DRAWN = 0x4D46524D, 0x4D464452  # of a frame and drawings; web/src/live.ts reads them
_POSE, _JOINT, _RAY = 7, 11, 7  # [1] numbers
_LACKS = ["back", "keep", "every", "load", "level"]  # commands of the page for other worlds
_FARTHEST = 1e6  # [m] of points
_MESSAGE = 4096  # [byte] longest message of a page
_PATIENCE = 0.1  # [s] after which a page gets the last picture again
_PAGES = 12  # [1] open at the same time
_KEY = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455


class Viewer(Native):
    """Shows a world on a page of the browser while this program steps it.

        with mayfly.Viewer(world) as viewer:
            print(viewer.address)
            while True:
                world.step(10)
                viewer.update()

    The page can pause, step and slow down the program, which then waits in update(); it shows the
    fields of a robot, sets its inputs and pushes robots: in the steps of the world, or of its
    environment, a spring pulls the link that was taken. It can start again: update() restores the
    world as it was when the viewer was made, and counts `restarts`, for programs with a state of
    their own. Shown are the robots that a film shows. The page is served to this machine alone.

    Args:
        world: its groups are complete.
        title: of the page.
        port: of the page; None: 8765, or a free one where it is taken; 0: a free one.
        open: opens the page in the browser, where there is a display.
        realtime: update() waits so that simulated time is not faster than the clock.
        restart: the page may start again.

    """

    def __init__(
        self,
        world: World,
        *,
        title: str = "Mayfly",
        port: int | None = None,
        open: bool = False,  # noqa: A002
        realtime: bool = True,
        restart: bool = True,
    ) -> None:
        self.world = world
        self._title = ffi.new("char[]", encode(title))
        self._speed = 1.0 if realtime else 0.0  # 0: as fast as possible
        self._paused, self._steps, self._ended = False, 0, False
        self._factor = 0.0
        self.restarts = 0  # by the page
        self._start, self._again = world.snapshot() if restart else None, False
        self._frame, self._serial = b"", 0
        self._drawn = 0  # number of the last change of drawings and controls
        self._pushing: object = None  # the page that pushes
        self._news = threading.Condition()
        self._start_film()
        self._restart()
        self._server = _listen(self, port)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.update(wait=False)
        if open and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
            webbrowser.open(self.address)
        self._seal()

    def _start_film(self) -> None:
        self._picture = ffi.new("mf_RecorderPicture *")
        with self.world._lock:
            film = film_of(self.world._use(), self._title, self._picture)
            self._take(lib.MFPY_FILM, film, [self.world])
        context = default_context()._use()
        self._page = take_text(context, lib.mf_film_viewer_page, context, self._title).encode()
        self._describe(json.loads(text(self._picture.description)))
        self._numbers = ffi.new("float[]", int(self._picture.size))

    def _describe(self, scene: dict[str, Any]) -> None:
        self._scene = json.dumps({"scene": scene, "lacks": _LACKS}).encode()
        poses = sum(cast["robots"] * cast["links"] for cast in scene["casts"])
        points = sum(cloud["points"] for cloud in scene["clouds"])
        self._counts = poses, scene["joints"], scene["rays"], points
        self._levels = scene.get("levels", 0)
        self._robots = [
            (cast["name"], cast["first"] + robot)
            for cast in scene["casts"]
            for robot in range(cast["robots"])
        ]

    def _in_brief(self) -> str:
        return f"{self.address}{', paused' if self.paused else ''}"

    @property
    def address(self) -> str:
        """Of the page."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    @property
    def paused(self) -> bool:
        """Whether the page has paused the program."""
        return self._paused

    # ---- the program's side ----------------------------------------------------------------------

    def _now(self) -> float:
        return float(self.world.time)

    def _restart(self) -> None:
        self._clock = self._last = time.monotonic()
        self._begin = self._last_time = self._now()

    def update(self, wait: bool = True) -> None:
        """Shows the present state; waits while the page pauses, or for the clock.

        Without `wait` it only takes the picture.
        """
        self.world._tell_controls()
        self._take_picture()
        if not wait:
            return
        with self._news:
            waited = self._paused
            while self._paused and self._steps == 0 and not self._ended:
                if self._again:
                    self._start_again()
                self._news.wait(0.1)
                self._update_drawn()
            self._steps -= self._steps > 0
            if self._again:
                self._start_again()
        if waited:
            self._restart()
        elif self._speed > 0:
            ahead = (self._now() - self._begin) / self._speed - (time.monotonic() - self._clock)
            if ahead > 0:
                time.sleep(ahead)
            elif ahead < -0.25 or self._now() < self._begin:
                self._restart()  # it cannot keep up, or started again: from here on
        self._measure()

    def _start_again(self) -> None:
        self._again = False
        try:
            self.world.restore(self._start or b"")
        except errors.MayflyError as failure:  # it has other groups or systems by now
            warnings.warn(f"the page wants to start again: {failure}", stacklevel=3)
            return
        vars(self)["restarts"] += 1
        self._restart()
        self._take_picture()

    def _measure(self) -> None:
        passed = time.monotonic() - self._last
        if passed > 0.5:
            self._factor = max(self._now() - self._last_time, 0.0) / passed
            self._last, self._last_time = time.monotonic(), self._now()

    def _take_picture(self) -> None:
        with self.world._lock:
            self._use()
            self.world._use()
            self._picture.take(self._numbers, self._picture.user)
            body, now = bytes(ffi.buffer(self._numbers)), self._now()
            self._measure_drawn()
        with self._news:
            self._body, self._time = body, now
            self._serial += 1
            self._news.notify_all()

    def close(self) -> None:
        """Ends the page; may be called twice."""
        if self._ended:
            return
        with self._news:
            self._ended = True
            self._news.notify_all()
        with contextlib.suppress(errors.MayflyError):
            self._let_go(self._pushing)
        self._server.shutdown()
        self._server.server_close()
        super().close()

    # ---- the pages' side -------------------------------------------------------------------------

    def _next_frame(self, seen: int) -> tuple[bytes, int]:
        """The newest picture with its head, and its number."""
        with self._news:
            self._news.wait_for(lambda: self._serial != seen or self._ended, _PATIENCE)
            head = struct.pack(
                "<IIdddIIIIIIII", _MAGIC, int(self._paused), self._time, self._factor,
                self._speed, *self._counts, self._serial & 0xFFFFFFFF, 0, self._levels,
                self._drawn & 0xFFFFFFFF,
            )  # fmt: skip
            return head + self._body, self._serial

    def _command(self, message: dict[str, Any], page: object) -> dict[str, Any] | bytes | None:
        """Does what a page wants; its answer, None: none."""
        word = message.get("do")
        with self._news:
            if word in ("pause", "run"):
                self._paused, self._steps = word == "pause", 0
            elif word == "step":
                self._paused, self._steps = True, 1
            elif word == "speed" and isinstance(message.get("factor"), (int, float)):
                self._speed = min(max(float(message["factor"]), 0.0), 1e6)
                self._restart()
            elif word == "reset":
                self._again = self._start is not None
            self._news.notify_all()
        if word == "read":
            return self._read(message)
        if word == "about":
            return self._about(message)
        if word == "set":
            return self._set(message)
        if word == "reset" and self._start is None:
            return {"note": "a Python program runs this world: it does not start again from here"}
        if word == "drawn":
            return self._changes(message)
        if word == "control":
            return self._move(message)
        if word == "push":
            return self._push(message, page)
        if word == "release":
            self._let_go(page)
        if word in ("back", "keep", "return", "level"):
            return {"note": "a Python program runs this world: its page cannot do this"}
        return None

    def _measure_drawn(self) -> None:
        last = ffi.new("uint64_t *")
        self._picture.drawn(self._drawn, ffi.NULL, 0, last, self._picture.user)
        self._drawn = int(last[0])

    def _update_drawn(self) -> None:
        """While the program waits for a page that pauses it: controls work."""
        self.world._tell_controls()
        with self.world._lock:
            self._measure_drawn()

    def _changes(self, message: dict[str, Any]) -> bytes | None:
        """What was drawn after the change that the page has seen last."""
        since, last = message.get("since"), ffi.new("uint64_t *")
        if not isinstance(since, int) or not 0 <= since < 2**53:
            return None
        with self.world._lock:
            self._use()
            self.world._use()
            drawn, user = self._picture.drawn, self._picture.user
            size = drawn(since, ffi.NULL, 0, last, user)
            records = ffi.new("char[]", int(size) + 1)
            drawn(since, records, size, last, user)
            body = bytes(ffi.buffer(records, int(size)))
        return struct.pack("<IIQ", _DRAWN, 0, int(last[0])) + body

    def _move(self, message: dict[str, Any]) -> dict[str, Any] | None:
        slot, value = message.get("slot"), message.get("value")
        if not isinstance(slot, int) or not isinstance(value, (int, float)) or slot < 0:
            return None
        with self.world._lock:
            done = lib.mf_control_move(self.world._use(), min(slot, 2**31), float(value))
        return None if done else {"note": "the program has taken this control away"}

    def _robot(self, message: dict[str, Any]) -> tuple[Any, int] | None:
        number = message.get("robot")
        if not isinstance(number, int) or not 0 <= number < len(self._robots):
            return None
        name, instance = self._robots[number]
        for group in self.world.groups:
            if group.name == name:
                return group, instance
        return None

    def _read(self, message: dict[str, Any]) -> dict[str, Any] | None:
        found = self._robot(message)
        if found is None:
            return None
        group, instance = found
        numbers, link = message.get("fields"), message.get("link")
        requested = [n for n in numbers if _is_index(n)] if isinstance(numbers, list) else None
        request = ffi.new("mf_ViewerReading *")
        request.robot, request.instance = message["robot"], instance
        request.link = link if _is_index(link) else lib.MF_NONE
        kept = ffi.new("uint32_t[]", requested or [0])
        if requested is not None:
            request.fields, request.field_count = kept, len(requested)
        with self.world._lock:
            values = take_text(
                default_context()._use(), lib.mf_film_viewer_read, group._use(), request
            )
        return {"reading": json.loads(values)}

    def _about(self, message: dict[str, Any]) -> dict[str, Any] | None:
        found = self._robot(message)
        if found is None:
            return None
        group, instance = found
        with self.world._lock:
            about = take_text(
                default_context()._use(), lib.mf_film_viewer_about, group._use(), instance
            )
        return {"about": json.loads(about), "robot": message["robot"]}

    def _set(self, message: dict[str, Any]) -> dict[str, Any] | None:
        found = self._robot(message)
        component, value = message.get("component"), message.get("value")
        if found is None or not isinstance(component, int) or not isinstance(value, (int, float)):
            return None
        group, instance = found
        with self.world._lock:
            native = group._use()
            field = lib.mf_group_find_field(native, encode(str(message.get("field"))))
            if field == ffi.NULL or not 0 <= component < field.components:
                return {"note": "the robot has no such field"}
            if not _is_input(native, field):
                return {"note": "a system of the world writes this field, or it is no input"}
            lib.mf_field_set(field, instance, component, float(value))
        return None

    def _push(self, message: dict[str, Any], page: object) -> dict[str, Any] | None:
        found, link = self._robot(message), message.get("link")
        at, to = _point(message.get("at")), _point(message.get("to"))
        if found is None or at is None or to is None or not isinstance(link, int) or link < 0:
            return None
        group, instance = found
        error = ffi.new("mf_Error *")
        with self.world._lock:
            native, hand = group._use(), self.world._hand()
            status = lib.mf_pusher_take(hand, native, instance, min(link, 2**31), at, to, error)
        if status != lib.MF_OK:
            return {"note": text(error.message)}
        self._pushing = page
        return None

    def _let_go(self, page: object) -> None:
        """A page releases what it pushes, or is gone."""
        if page is None or self._pushing is not page:
            return
        self._pushing = None
        with self.world._lock:
            if not self.world.closed:
                lib.mf_pusher_release(self.world._hand())


def _point(value: object) -> list[float] | None:
    """A place [m] of a message; None: it is none."""
    if not isinstance(value, list) or len(value) != 3:
        return None
    fits = all(
        isinstance(x, (int, float)) and not isinstance(x, bool) and abs(x) < _FARTHEST
        for x in value
    )
    return [float(x) for x in value] if fits else None


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _is_input(group: Any, field: Any) -> bool:
    """Meant to be written from outside, and no system of the group writes it."""
    flagged = bool(field.info.flags & lib.MF_FIELD_INPUT)
    return flagged and lib.mf_group_writer(group, field.info.name, 0) == ffi.NULL


# ---- the server ----------------------------------------------------------------------------------


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    viewer: Viewer
    pages = 0

    def handle_error(self, request: object, client_address: object) -> None:
        """A page that went away is no error of the program."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def _listen(viewer: Viewer, port: int | None) -> _Server:
    for requested in (_PORT, 0) if port is None else (port,):
        try:
            server = _Server(("127.0.0.1", requested), _Handler)
        except OSError as failure:
            problem = failure
            continue
        server.viewer = viewer
        return server
    raise errors.OperatingSystemError(
        f"port {port}: {problem.strerror}: name another port, or None for any"
    )


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 30

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Says nothing."""

    def _allowed(self) -> bool:
        """Under the loopback's own names only, so that other web pages cannot reach it."""
        port = self.server.server_address[1]
        hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        origin = self.headers.get("Origin")
        from_here = origin is None or origin in {f"http://{host}" for host in hosts}
        return self.headers.get("Host") in hosts and from_here

    def do_GET(self) -> None:
        """The page, or its connection."""
        if not self._allowed():
            self.send_error(403)
        elif self.path.split("?")[0] == "/live":
            self._live()
        elif self.path.split("?")[0] == "/":
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(self.server.viewer._page)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(self.server.viewer._page)
        else:
            self.send_error(404)

    def _live(self) -> None:
        key = self.headers.get("Sec-WebSocket-Key", "")
        if self.headers.get("Upgrade", "").lower() != "websocket" or not key:
            self.send_error(400)
            return
        if self.server.pages >= _PAGES:
            self.send_error(503)
            return
        accept = base64.b64encode(hashlib.sha1(key.encode() + _KEY).digest()).decode()
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", accept)
        self.end_headers()
        self.close_connection = True
        self.server.pages += 1
        try:
            self._talk(self.server.viewer)
        finally:
            self.server.pages -= 1
            with contextlib.suppress(errors.MayflyError):  # the program has closed its world
                self.server.viewer._let_go(self)

    def _talk(self, viewer: Viewer) -> None:
        seen = -1
        self.connection.settimeout(None)
        self._send(viewer._scene, 1)
        while not viewer._ended:
            message = self._receive()
            if message is None:
                return
            try:
                wish = json.loads(message)
            except ValueError:
                continue
            if not isinstance(wish, dict):
                continue
            if wish.get("do") == "next":
                frame, seen = viewer._next_frame(seen)
                self._send(frame, 2)
            else:
                try:
                    answer = viewer._command(wish, self)
                except errors.MayflyError:  # the program has closed its world
                    return
                if isinstance(answer, bytes):
                    self._send(answer, 2)
                elif answer is not None:
                    self._send(json.dumps(answer).encode(), 1)

    def _send(self, data: bytes, kind: int) -> None:
        size = len(data)
        if size < 126:
            head = struct.pack(">BB", 0x80 | kind, size)
        elif size < 65536:
            head = struct.pack(">BBH", 0x80 | kind, 126, size)
        else:
            head = struct.pack(">BBQ", 0x80 | kind, 127, size)
        self.wfile.write(head + data)

    def _receive(self) -> bytes | None:
        """A text of the page; None: it is gone, or sends what no page of ours sends."""
        while True:
            head = self.rfile.read(2)
            if len(head) < 2:
                return None
            kind, size = head[0] & 0x0F, head[1] & 0x7F
            if size == 126:
                (size,) = struct.unpack(">H", self.rfile.read(2).rjust(2, b"\0"))
            if not head[0] & 0x80 or not head[1] & 0x80 or size > _MESSAGE:
                return None
            mask, data = self.rfile.read(4), self.rfile.read(size)
            if len(data) < size or kind == 8:
                return None
            data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
            if kind == 9:  # a ping
                self._send(data[:125], 10)
            elif kind == 1:
                return data
