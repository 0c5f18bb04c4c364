"""What goes wrong, as exceptions. Every one is a MayflyError and one of Python's own kinds too."""

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
        status: what kind, such as "bad file".
        file: the file that it is about, or "".
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
    """A file's content is not what the format asks for."""


class NoMemoryError(MayflyError, MemoryError):
    """The system gave no memory."""


class OperatingSystemError(MayflyError, OSError):
    """The operating system refused to open, read, write or rename something."""


class UnsupportedError(MayflyError, NotImplementedError):
    """Well-formed, but outside what this version does."""


class NotFoundError(MayflyError, LookupError):
    """There is nothing of that name."""


class MissingFileError(NotFoundError, FileNotFoundError):
    """There is no such file."""


class BusyError(MayflyError, RuntimeError):
    """Locked by someone else, or not possible at this moment."""


class CorruptError(MayflyError, ValueError):
    """A checksum or an internal relation does not hold."""


class VersionError(MayflyError, ValueError):
    """Written by a version that does not fit."""


class StoppedError(MayflyError, RuntimeError):
    """Stopped early on request."""


class LimitError(MayflyError, ValueError):
    """Larger than a documented limit."""


class ClosedError(MayflyError, RuntimeError):
    """Used after close()."""


class ForkError(MayflyError, RuntimeError):
    """Made in another process: threads and locks of a parent do not exist after a fork."""
