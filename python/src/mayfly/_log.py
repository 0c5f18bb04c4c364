"""The logger "mayfly". Where the program has not set up logging, lines go to sys.stderr."""

from __future__ import annotations

import logging
import sys

__all__ = ["log"]


class _Plain(logging.Handler):
    """The text alone, to the sys.stderr of the moment, unless other handlers get the line."""

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.getLogger().handlers and log.handlers == [self]:
            print(self.format(record), file=sys.stderr)


log = logging.getLogger("mayfly")
if not log.handlers:
    log.addHandler(_Plain())
if log.level == logging.NOTSET:
    log.setLevel(logging.INFO)
