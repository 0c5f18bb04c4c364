"""Exceptions. Each is a MayflyError and also one of Python's standard exceptions."""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "BusyError",
    "ClosedError",
    "CorruptError",
    "FileError",
    "ForkError",
    "LimitError",
    "MayflyError",
    "MissingFileError",
    "NoMemoryError",
    "NotFoundError",
    "OperatingSystemError",
    "StoppedError",
    "UnsupportedError",
    "VersionError",
]


class MayflyError(Exception):
    """A failure of the library.

    Attributes:
        status: the kind, such as "bad file".
        file: the file that caused it, or "".
        line: line in the file from 1, or 0.
        column: column in the file from 1, or 0.

    """

    status: str = "error"
    file: str = ""
    line: int = 0
    column: int = 0


class ArgumentError(MayflyError, ValueError):
    """A value is out of range or inconsistent with others."""


class FileError(MayflyError, ValueError):
    """The content of a file violates its format."""


class NoMemoryError(MayflyError, MemoryError):
    """Out of memory."""


class OperatingSystemError(MayflyError, OSError):
    """The operating system refused to open, read, write or rename something."""


class UnsupportedError(MayflyError, NotImplementedError):
    """Well-formed, but not supported by this version."""


class NotFoundError(MayflyError, LookupError):
    """Nothing has that name."""


class MissingFileError(NotFoundError, FileNotFoundError):
    """The file does not exist."""


class BusyError(MayflyError, RuntimeError):
    """Locked by another process, or not possible at this moment."""


class CorruptError(MayflyError, ValueError):
    """A checksum or an internal relation does not hold."""


class VersionError(MayflyError, ValueError):
    """Written by an incompatible version."""


class StoppedError(MayflyError, RuntimeError):
    """Stopped early on request."""


class LimitError(MayflyError, ValueError):
    """Larger than a documented limit."""


class ClosedError(MayflyError, RuntimeError):
    """Used after close()."""


class ForkError(MayflyError, RuntimeError):
    """Created in another process: threads and locks of a parent do not exist after a fork."""
