"""Puts `mayfly serve` under load for long: many connections at once, then a day's worth of traffic.

    python bench/soak.py [--command build/mayfly] [--connections 1000] [--seconds 20] [--hours 24]

First `connections` clients connect, subscribe to the poses of 37 quadrotors 10 times a second, and
read for `seconds`, in real time. Then the world runs as fast as it can for `hours` of simulated
time, while one client controls it in lock-step 10 times a second, one reads all poses 100 times a
second, one never reads, and others come, say something, half of something or garbage, and go.
Nothing but the standard library is used. Prints one line of JSON for each part: messages, bytes,
states that were lost, and what the server's memory and open files have grown by. Ends with 1 if the
server failed, was late to answer, lost a turn, or kept memory or files.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import resource
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[1]
HELLO, SUBSCRIBE, WRITE, LOCK_STEP, PAUSE, STATISTICS, PING = 1, 3, 5, 6, 7, 13, 16
STATE, DONE, FIGURES, TURN = 131, 132, 134, 136
ALL, ANY = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
SCENE = """
world: {{step: 0.01}}
groups:
- name: quads
  model: {root}/models/sun2022.yaml
  count: 37
  controller: none
  placement: {{grid: {{center: [0, 0, 20], spacing: [3, 3, 3]}}}}
"""


def message(kind: int, tag: int, payload: bytes = b"") -> bytes:
    return struct.pack("<IHH", len(payload), kind, tag) + payload


HI = message(HELLO, 1, struct.pack("<IHHI", 0x594C464D, 1, 0, 0))


def subscription(field: int, period: float, count: int = ALL) -> bytes:
    head = struct.pack("<IIq", 0, 1, round(1e9 * period))
    return message(SUBSCRIBE, 2, head + struct.pack("<3I", field, 0, count))


class Client:
    """A connection, and what came over it."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()
        self.messages = self.bytes = self.lost = 0
        self.rest: list[tuple[int, bytes]] = []  # that came after an answer

    def read(self, size: int = 262144) -> list[tuple[int, bytes]]:
        """The whole messages of one read; empty if none is complete."""
        if self.rest:
            found, self.rest = self.rest, []
            return found
        got = self.socket.recv(size)
        if not got:
            raise ConnectionError("the server closed a connection")
        self.bytes += len(got)
        self.buffer += got
        messages, at = [], 0
        while len(self.buffer) - at >= 8:
            length, kind, _ = struct.unpack_from("<IHH", self.buffer, at)
            if len(self.buffer) - at < 8 + length:
                break
            payload = bytes(self.buffer[at + 8 : at + 8 + length])
            at += 8 + length
            self.messages += 1
            if kind == STATE:
                self.lost += struct.unpack_from("<I", payload, 4)[0]
            messages.append((kind, payload))
        del self.buffer[:at]
        return messages

    def ask(self, request: bytes, answer: int) -> bytes:
        """Sends, and waits for an answer; states in between are dropped."""
        self.socket.sendall(request)
        self.socket.settimeout(30)
        while True:
            found = self.read()
            for number, (kind, payload) in enumerate(found):
                if kind == answer:
                    self.rest = found[number + 1 :]
                    return payload
                if kind == 128:
                    raise RuntimeError(payload[4:].decode())


@contextlib.contextmanager
def server(command: str, *options: str) -> Iterator[tuple[subprocess.Popen[str], tuple[str, int]]]:
    with tempfile.TemporaryDirectory() as folder:
        scene = pathlib.Path(folder) / "quads.yaml"
        scene.write_text(SCENE.format(root=ROOT))
        words = [command, "serve", str(scene), "--port", "0", *options]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            found = None
            while found is None:  # notes come first
                line = process.stdout.readline()
                assert line, "the server did not start"
                found = re.match(r"serving at (\S+):(\d+) ", line)
            yield process, (found[1], int(found[2]))
            process.send_signal(signal.SIGTERM)
            if process.wait(30) != 0:
                raise RuntimeError(f"the server ended with {process.returncode}")


def used(process: subprocess.Popen[str]) -> tuple[int, int]:
    """Resident memory [KiB] and open files."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) if found else 0, len(os.listdir(f"/proc/{process.pid}/fd"))


def crowd(command: str, count: int, seconds: float) -> dict[str, float]:
    """All connections at once, which read."""
    with server(command, "--connections", str(count)) as (process, address):
        before = used(process)
        clients, selector = [], selectors.DefaultSelector()
        for _ in range(count):
            client = Client(address)
            client.socket.sendall(HI + subscription(0, 0.1))
            selector.register(client.socket, selectors.EVENT_READ, client)
            clients.append(client)
        begin = time.monotonic()
        while time.monotonic() < begin + seconds:
            for key, _ in selector.select(0.1):
                key.data.read()
        with_all = used(process)
        slowest = 0.0
        for client in clients[:: max(1, count // 100)]:
            start = time.monotonic()
            client.ask(message(PING, 9), DONE)
            slowest = max(slowest, time.monotonic() - start)
        for client in clients:
            client.socket.close()
        time.sleep(1.0)
        after = used(process)
    silent = sum(client.messages < 2 for client in clients)
    return {
        "connections": count,
        "messages": sum(client.messages for client in clients),
        "bytes": sum(client.bytes for client in clients),
        "lost": sum(client.lost for client in clients),
        "silent": silent,
        "slowest_ping_ms": round(1e3 * slowest, 2),
        "memory_kib": with_all[0],
        "memory_left_kib": after[0] - before[0],
        "files_left": after[1] - before[1],
    }


def visit(address: tuple[str, int], rng: random.Random) -> None:
    """Someone who comes, and goes in one of several ways."""
    with contextlib.suppress(OSError, RuntimeError):
        guest = Client(address)
        way = rng.randrange(4)
        if way == 0:
            guest.socket.sendall(HI + subscription(0, 0.0))
        elif way == 1:
            guest.socket.sendall(HI[: rng.randrange(1, len(HI))])
        elif way == 2:
            guest.socket.sendall(rng.randbytes(rng.randrange(1, 300)))
        else:
            guest.ask(HI, 129)
            guest.ask(message(PING, 3), DONE)
        guest.socket.close()


def day(command: str, hours: float) -> dict[str, float]:
    """A day of a controller, readers and visitors."""
    rng = random.Random(1)
    with server(command, "--speed", "0", "--paused") as (process, address):
        controller, reader, deaf = (Client(address) for _ in range(3))
        for client in (controller, reader, deaf):
            client.ask(HI, 129)
        before = used(process)
        reader.ask(subscription(0, 0.01), DONE)
        deaf.socket.sendall(subscription(0, 0.0))
        lock = struct.pack("<IIqq", 1, 0, 100_000_000, 60_000_000_000)
        controller.ask(message(LOCK_STEP, 3, lock), DONE)
        reader.ask(message(PAUSE, 3, bytes(4)), DONE)
        selector = selectors.DefaultSelector()
        for client in (controller, reader):
            selector.register(client.socket, selectors.EVENT_READ, client)
        begin, turns, visits, simulated = time.monotonic(), 0, 0, 0.0
        while simulated < 3600 * hours:
            ready = [key.data for key, _ in selector.select(0.0 if controller.rest else 30.0)]
            for client in dict.fromkeys([controller] * bool(controller.rest) + ready):
                for kind, payload in client.read():
                    if kind != TURN:
                        continue
                    tick, time_ns = struct.unpack("<Qq", payload)
                    simulated = 1e-9 * time_ns
                    turns += 1
                    client.socket.sendall(message(WRITE, 0, struct.pack("<QII", tick, 0, 1)))
            if turns >= 500 * (visits + 1):
                visit(address, rng)
                visits += 1
        seconds = time.monotonic() - begin
        figures = struct.unpack(
            "<Qq9Q", controller.ask(message(STATISTICS, 9, bytes(4)), FIGURES)[:88]
        )
        for client in (controller, reader, deaf):
            client.socket.close()
        time.sleep(6.0)  # hellos that never came are given up
        after = used(process)
    return {
        "hours": hours,
        "seconds": round(seconds, 1),
        "turns": turns,
        "turns_missed": figures[8],
        "states_read": reader.messages,
        "lost_by_reader": reader.lost,
        "visits": visits,
        "memory_left_kib": after[0] - before[0],
        "files_left": after[1] - before[1] + 3,
    }


def main(command: str, connections: int, seconds: float, hours: float) -> bool:
    """Both parts; whether all was well."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = hard if hard != resource.RLIM_INFINITY else 1 << 20
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(most, connections + 100)), hard))
    if most < connections + 100:
        connections = most - 100
        print(f"soak: {connections} connections, as the system allows", file=sys.stderr)
    many = crowd(command, connections, seconds)
    print(json.dumps(many), flush=True)
    long = day(command, hours)
    print(json.dumps(long), flush=True)
    return (
        many["silent"] == 0
        and many["slowest_ping_ms"] < 10_000
        and many["files_left"] == 0
        and long["files_left"] == 0
        and long["turns_missed"] == 0
        and long["memory_left_kib"] < 20_000
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--command", default=str(ROOT / "build" / "mayfly"))
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--hours", type=float, default=24.0)
    words = parser.parse_args()
    sys.exit(not main(words.command, words.connections, words.seconds, words.hours))
