"""Serial ports: pseudo terminals, or byte streams over TCP, with a bus at each of them.

Nobody is waited for: what a reader does not take is dropped, as on a wire.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import socket
import termios
import tty
from collections.abc import Callable

import mayfly

_PIECE = 4096  # [byte] that are read at once


class Terminal:
    """A pseudo terminal, whose far side is kept open, so that programs may come and go."""

    def __init__(self, link: str) -> None:
        """`link`: path of a symbolic link to it, replaced if there is one already; "": none."""
        self._link = pathlib.Path(link) if link else None
        if self._link is not None and self._link.exists() and not self._link.is_symlink():
            raise mayfly.ArgumentError(f"{link} exists, and is no link")
        self._near, self._far = os.openpty()
        tty.setraw(self._far, termios.TCSANOW)
        os.set_blocking(self._near, False)
        self._path = os.ttyname(self._far)
        self.name = self._path
        if self._link is not None:
            self._link.unlink(missing_ok=True)
            self._link.symlink_to(self._path)
            self.name += f" = {link}"

    def files(self) -> list[int]:
        """What may become readable."""
        return [self._near]

    def serve(self, answer: Callable[[bytes], bytes], forget: Callable[[], None]) -> None:
        """Answers what has come."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._near, answer(os.read(self._near, _PIECE)))

    def close(self) -> None:
        """Removes the link, if it still is this port's."""
        if self._link is not None and self._link.is_symlink():
            if os.readlink(self._link) == self._path:
                self._link.unlink()
        os.close(self._near)
        os.close(self._far)


class Stream:
    """A TCP port of this computer. The latest connection has the bus: a program that is gone cannot
    keep it."""

    def __init__(self, port: int) -> None:
        self._listener = socket.create_server(("127.0.0.1", port))
        self._peer: socket.socket | None = None
        self.name = f"tcp 127.0.0.1:{self._listener.getsockname()[1]}"

    def files(self) -> list[int]:
        """What may become readable."""
        return [self._listener.fileno(), *([] if self._peer is None else [self._peer.fileno()])]

    def serve(self, answer: Callable[[bytes], bytes], forget: Callable[[], None]) -> None:
        """Accepts a connection; answers what has come."""
        self._listener.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            peer, _ = self._listener.accept()
            peer.setblocking(False)
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._drop()
            self._peer = peer
            forget()
        if self._peer is None:
            return
        try:
            data = self._peer.recv(_PIECE)
            if not data:
                self._drop()
            else:
                self._peer.send(answer(data))
        except BlockingIOError:
            pass
        except OSError:  # it is gone
            self._drop()

    def _drop(self) -> None:
        if self._peer is not None:
            self._peer.close()
        self._peer = None

    def close(self) -> None:
        """Frees the port."""
        self._drop()
        self._listener.close()
