"""What the options of several bridges have in common."""

from __future__ import annotations

import argparse
from typing import NoReturn

import mayfly

HIGHEST = 65535  # port


class Parser(argparse.ArgumentParser):
    """One whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        """Ends the program with exit status 2."""
        self.exit(2, f"{self.prog}: {message} (--help lists the options)\n")


def port(text: str) -> int:
    """Type of an option: a port, 0 for a free one."""
    if not text.isascii() or not text.isdigit() or int(text) > HIGHEST:
        raise argparse.ArgumentTypeError(f"expected a port, 0 .. {HIGHEST}, found {text!r}")
    return int(text)


def check_ports(first: int, robots: int, between: int) -> None:
    """ArgumentError where robots, with so much between their ports, do not have ports."""
    last = first + between * (robots - 1)
    if first and last > HIGHEST:
        raise mayfly.ArgumentError(
            f"--port: expected ports up to {HIGHEST} for {robots} robots, found {last} for the last"
        )
