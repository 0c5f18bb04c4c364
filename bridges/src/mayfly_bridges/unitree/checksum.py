"""The checksum of Unitree's low-level messages.

A CRC over the message as a C structure without its last word: polynomial 0x04C11DB7, start value
0xFFFFFFFF, most significant bit of each 32-bit word first, no reflection, no final inversion. zlib
computes the mirrored CRC, so bytes and result are mirrored here.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

_MIRROR = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def checksum(record: npt.NDArray[Any]) -> int:
    """The checksum of a message, a record with the layout of C, without its member `crc`."""
    words = np.frombuffer(record.tobytes()[:-4], "<u4").byteswap()
    mirrored = zlib.crc32(words.tobytes().translate(_MIRROR)) ^ 0xFFFFFFFF
    return int.from_bytes(mirrored.to_bytes(4, "little").translate(_MIRROR), "big")
