"""The command mayfly-bridge itself: its mistakes are one line each."""

from __future__ import annotations

import subprocess
import sys


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mayfly_bridges", *arguments],
        text=True,
        capture_output=True,
        timeout=60,
    )


def test_unknown_bridge_is_refused() -> None:
    result = command("telepathy", "127.0.0.1:8766")
    assert result.returncode == 2
    assert "invalid choice: 'telepathy'" in result.stderr
