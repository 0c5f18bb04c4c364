"""Random calls with random arguments: what fuzz_api.py and fuzz_environments.py share.

Usage: fuzz_*.py SEED CALLS. An exception of the expected kinds, with a text, or it works; never a
crash. Prints "fine", how many calls worked and how many were refused.
"""

import faulthandler
import random
import sys
from collections.abc import Callable
from typing import Any

import mayfly

faulthandler.enable()

Action = Callable[[], object]

rng = random.Random(int(sys.argv[1]))
REFUSALS = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OSError,
    RuntimeError,
    OverflowError,
    mayfly.MayflyError,
)


def pick(items: Any) -> Any:
    return rng.choice(items)


def fuzz(
    actions: list[tuple[int, Action]], begin: Callable[[], Action | None], *refusals: type
) -> None:
    """Actions are drawn by their weights, except where `begin` has one that must come first."""
    weighted = [action for weight, action in actions for _ in range(weight)]
    worked = refused = 0
    for _ in range(int(sys.argv[2])):
        try:
            (begin() or pick(weighted))()
            worked += 1
        except (*REFUSALS, *refusals) as failure:
            assert not isinstance(failure, MemoryError) and str(failure) != "", failure
            refused += 1
    print("fine", worked, refused)
