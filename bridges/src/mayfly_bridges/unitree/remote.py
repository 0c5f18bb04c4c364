"""The remote control in the 40 bytes `wireless_remote` of a low-level state."""

from __future__ import annotations

import struct
from typing import Any


def remote_bytes(controller: Any) -> bytes:
    """Of a WirelessController: its keys from byte 2, then lx, rx, ry, and ly from byte 20."""
    data = bytearray(40)
    sticks = [float(controller[name]) for name in ("lx", "rx", "ry")]
    struct.pack_into("<H3f", data, 2, int(controller["keys"]), *sticks)
    struct.pack_into("<f", data, 20, float(controller["ly"]))
    return bytes(data)
