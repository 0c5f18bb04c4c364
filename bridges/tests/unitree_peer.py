"""The SDK for Python as it is on PyPI, for cyclonedds 0.10: what it calls uint8 is an octet there,
and in 11 another type (see dds_peer), so its classes are made with octets here."""

from __future__ import annotations

from typing import Any
from unittest import mock

import cyclonedds.idl.types as idl

with mock.patch.object(idl, "uint8", idl.byte):
    import unitree_sdk2py.idl.unitree_api.msg.dds_ as api
    import unitree_sdk2py.idl.unitree_go.msg.dds_ as go
    import unitree_sdk2py.idl.unitree_hg.msg.dds_ as hg
    from unitree_sdk2py.idl import default
    from unitree_sdk2py.utils.crc import CRC

__all__ = ["CRC", "api", "go", "hg", "zero"]


def zero(name: str) -> Any:
    """A message of the SDK, for example "unitree_go/LowCmd"."""
    package, short = name.split("/")
    return getattr(default, f"{package}_msg_dds__{short}_")()
