"""A page of `mayfly view` without a browser: its WebSocket, by the standard library alone."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import socket
import struct
import subprocess
import urllib.parse
from typing import Any, NamedTuple

HEAD = struct.Struct("<IIdddIIIII3I")  # of a frame, as web/src/live.ts reads it


DRAWN = "() => window.mayfly && mayfly.drawn !== -1"
# Pixels of the picture that differ from its most frequent color, as a share.
SHARE = """() => {
  mayfly.draw(0);
  const gl = mayfly.view.stage.renderer.getContext();
  const w = gl.drawingBufferWidth, h = gl.drawingBufferHeight;
  const data = new Uint8Array(4 * w * h), count = new Map();
  gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, data);
  for (let i = 0; i < data.length; i += 4) {
    const key = data[i] << 16 | data[i + 1] << 8 | data[i + 2];
    count.set(key, (count.get(key) ?? 0) + 1);
  }
  return {share: 1 - Math.max(...count.values()) / (w * h), colors: count.size};
}"""
# Where the first link of a robot is on the page.
WHERE = """robot => {
  const camera = mayfly.view.stage.camera, list = mayfly.view.robots.list, m = [0, 1, 2, 3];
  const p = mayfly.source.frame().poses.slice(7 * list[robot].first, 7 * list[robot].first + 3);
  const shift = mayfly.view.layout.shift(robot), at = [0, 1, 2].map(c => p[c] + shift[c]).concat(1);
  const times = (e, v) => m.map(r => m.reduce((sum, c) => sum + e[4 * c + r] * v[c], 0));
  camera.updateMatrixWorld();
  const seen = times(camera.matrixWorldInverse.elements, at);
  const clip = times(camera.projectionMatrix.elements, seen);
  return [innerWidth * (1 + clip[0] / clip[3]) / 2, innerHeight * (1 - clip[1] / clip[3]) / 2];
}"""


class Frame(NamedTuple):
    paused: bool
    time: float  # [s] simulated
    factor: float  # [1] simulated per second
    number: int
    poses: tuple[float, ...]


class Page:
    """Messages to and from one server, in order."""

    def __init__(self, address: str) -> None:
        url = urllib.parse.urlparse(address)
        query = f"?{url.query}" if url.query else ""
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket = socket.create_connection((url.hostname, url.port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""
        self.notes: list[str] = []
        self.socket.sendall(
            f"GET /live{query} HTTP/1.1\r\nHost: {url.netloc}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.socket.recv(4096)
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        if b" 101 " not in head:
            raise ConnectionError(head.decode())
        self.scene: dict[str, Any] = self.words("scene")

    def bytes(self, count: int) -> bytes:
        parts = [self.rest]
        while (have := sum(map(len, parts))) < count:
            part = self.socket.recv(1 << 20)
            if not part:
                raise ConnectionError("the server closed the socket")
            parts.append(part)
        whole = b"".join(parts) if have else parts[0]
        self.rest = whole[count:]
        return whole[:count]

    def receive(self) -> bytes | dict[str, Any]:
        kind, size = self.bytes(2)
        size &= 127
        if size > 125:
            size = int.from_bytes(self.bytes(2 if size == 126 else 8), "big")
        data = self.bytes(size)
        return data if kind & 15 == 2 else json.loads(data)

    def words(self, key: str) -> Any:
        """The next text with that member; notes before it are kept."""
        while True:
            message = self.receive()
            if not isinstance(message, dict):
                continue
            if "note" in message:
                self.notes.append(message["note"])
            if key in message:
                return message[key]

    def send_raw(
        self, data: bytes, opcode: int = 1, final: bool = True, mask: Any = b"\0\0\0\0"
    ) -> None:
        size, bit = len(data), 128 if mask is not None else 0
        head = bytes([opcode | (128 if final else 0)])
        if size < 126:
            head += bytes([bit | size])
        else:
            head += (
                bytes([bit | 126]) + size.to_bytes(2, "big")
                if size < 65536
                else (bytes([bit | 127]) + size.to_bytes(8, "big"))
            )
        mask = mask or b""
        data = bytearray(byte ^ (mask[i % 4] if mask else 0) for i, byte in enumerate(data))
        self.socket.sendall(head + mask + data)

    def send(self, do: str, **members: Any) -> None:
        self.send_raw(json.dumps({"do": do, **members}).encode())

    def raw_frame(self) -> bytes:
        self.send("next")
        while not isinstance(message := self.receive(), bytes):
            if "note" in message:
                self.notes.append(message["note"])
        return message

    def frame(self) -> Frame:
        data = self.raw_frame()
        _, flags, time, factor, _, poses, _, _, _, number, *_ = HEAD.unpack_from(data)
        return Frame(
            bool(flags & 1), time, factor, number, struct.unpack_from(f"<{7 * poses}f", data, 64)
        )

    def read(self, robot: int = 0) -> dict[str, Any]:
        self.send("read", robot=robot)
        return self.words("reading")

    def field(self, name: str, robot: int = 0) -> list[float]:
        return next(f["values"] for f in self.read(robot)["fields"] if f["name"] == name)

    def until(self, time: float) -> Frame:
        while (frame := self.frame()).time < time:
            pass
        return frame

    def close(self) -> None:
        self.socket.close()


class Server:
    """A `mayfly view` that runs until it is ended."""

    def __init__(self, command: str, *words: str, folder: os.PathLike[str] | None = None) -> None:
        self.process = subprocess.Popen(
            [command, "view", "--port", "0", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"see it at (\S+)", line):
                self.address = found[1]
                return
        assert self.process.stderr is not None
        raise AssertionError(f"no address: {self.process.stderr.read()}")

    def end(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.read()
        return self.process.wait(timeout=20)
