"""Contexts: memory and threads. Most programs use the default context."""

from __future__ import annotations

import operator
import os
import threading

from mayfly._native import Native, ffi, lib, output

__all__ = ["Context", "default_context"]


class Context(Native):
    """Memory and worker threads for models and worlds.

    Args:
        threads: worker threads of a world, including the calling thread; None: one for each
            processor that this process may use. Results do not depend on it.

    """

    _sealed = True

    def __init__(self, threads: int | None = None) -> None:
        config = lib.mf_context_config()
        if threads is not None:
            try:
                count = operator.index(threads)
            except TypeError:
                raise TypeError(f"threads: need a whole number or None, got {threads!r}") from None
            if not 1 <= count < 2**31:
                raise ValueError(f"threads: need 1 or more, got {count}")
            config.threads = count
        self._take(lib.MFPY_CONTEXT, output(lib.mf_context_create, ffi.addressof(config)))

    @property
    def threads(self) -> int:
        """Worker threads, including the calling thread."""
        return int(lib.mf_context_threads(self._use()))

    @property
    def live_bytes(self) -> int:
        """[byte] currently allocated by models, terrains and worlds of this context."""
        return int(lib.mf_context_live_bytes(self._use()))

    def __repr__(self) -> str:
        return "<Context, closed>" if self.closed else f"<Context of {self.threads} threads>"

    def __reduce__(self) -> tuple[type[Context], tuple[int]]:
        return Context, (self.threads,)


_defaults: dict[int, Context] = {}
_making = threading.Lock()


def _forget_lock() -> None:
    # Another thread of the parent may have held it.
    global _making
    _making = threading.Lock()


os.register_at_fork(after_in_child=_forget_lock)


def default_context() -> Context:
    """The default context; each process has its own."""
    process = os.getpid()
    context = _defaults.get(process)
    if context is None or context.closed:
        with _making:
            context = _defaults.get(process)
            if context is None or context.closed:
                context = Context()
                _defaults[process] = context
    return context
