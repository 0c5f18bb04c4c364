"""mayfly-bridge NAME ADDRESS [options]: runs a bridge until the world or the user ends it."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import signal
import sys
import time
from types import FrameType, ModuleType

import mayfly
import mayfly_bridges
from mayfly_bridges._options import Parser

CONNECT_SECONDS = 10.0  # for a server that is just starting
MISUSED = 2  # exit status, as that of wrong options: `mayfly serve` does not start it again
LASTING = (mayfly.ArgumentError, mayfly.NotFoundError, mayfly.UnsupportedError)


class Stopped(Exception):
    """SIGTERM came."""


def names() -> list[str]:
    """The bridges there are: the public packages beside this file."""
    found = pkgutil.iter_modules(mayfly_bridges.__path__)
    return sorted(part.name for part in found if part.ispkg and not part.name.startswith("_"))


def load(name: str) -> ModuleType:
    """A bridge; SystemExit with one line if a package that it needs is missing."""
    try:
        return importlib.import_module(f"mayfly_bridges.{name}")
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"mayfly-bridge {name}: the package {error.name} is missing: "
            f"pip install './bridges[{name}]' in the clone of Mayfly"
        ) from error


def connect(address: str) -> mayfly.RemoteWorld:
    """Connects, and waits a little for a server that is not there yet."""
    end = time.monotonic() + CONNECT_SECONDS
    while True:
        try:
            return mayfly.connect(address, os.environ.get("MAYFLY_TOKEN", ""))
        except mayfly.OperatingSystemError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise Stopped


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns its exit status.

    2 after mistakes that last, such as a wrong option, a group that is not there, or a step that
    the bridge cannot use; 1 after other failures.
    """
    first = Parser("mayfly-bridge", description=__doc__)
    first.add_argument("name", choices=names(), metavar="NAME", help=", ".join(names()))
    first.add_argument("rest", nargs=argparse.REMAINDER, metavar="ADDRESS [options]")
    chosen = first.parse_args(arguments)
    bridge = load(chosen.name)
    parser = Parser(f"mayfly-bridge {chosen.name}", description=bridge.SUMMARY)
    parser.add_argument("address", help="of mayfly serve: host:port, or the path of a Unix socket")
    bridge.add_options(parser)
    options = parser.parse_args(chosen.rest)
    signal.signal(signal.SIGTERM, _stop)
    try:
        with connect(options.address) as world:
            bridge.run(world, options)
    except (KeyboardInterrupt, Stopped):
        return 0
    except mayfly.StoppedError as error:
        print(f"mayfly-bridge {chosen.name}: {error}", file=sys.stderr)
        return 0
    except (mayfly.MayflyError, OSError) as error:
        print(f"mayfly-bridge {chosen.name}: {error}", file=sys.stderr)
        return MISUSED if isinstance(error, LASTING) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
