"""The other end of the bridges over DDS: readers and writers of PyPI's `cyclonedds`, whose types
come from the definitions of ROS 2 that PyPI's `rosbags` ships."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from typing import Any

import cyclonedds.idl.types as idl
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import make_idl_struct
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_JAZZY)
RELIABLE = Policy.Reliability.Reliable(duration(seconds=1))
SECONDS = 30.0  # for what must come, on a loaded machine
# Loopback without multicast, apart from all other tests on this machine.
CONFIGURATION = """<CycloneDDS><Domain Id="any">
<General><AllowMulticast>false</AllowMulticast>
<Interfaces><NetworkInterface name="lo" multicast="false"/></Interfaces></General>
<Discovery><Tag>{tag}</Tag><ParticipantIndex>auto</ParticipantIndex>
<Peers><Peer address="127.0.0.1"/></Peers></Discovery></Domain></CycloneDDS>"""
# Version 0.10 of cyclonedds, which the SDK of Unitree has, describes uint8 to others as octet; 11
# distinguishes the two on the wire, and makes 0.10 crash by uint8.
_PRIMITIVES: dict[str, Any] = {
    "string": str,
    "bool": bool,
    "uint8": idl.byte,
}
_classes: dict[str, Any] = {}
_domains = iter(range(20, 200))


def new_domain(monkeypatch: Any) -> int:
    """Prepares this process and its children for a domain of their own; returns its number."""
    text = CONFIGURATION.format(tag=uuid.uuid4().hex)
    monkeypatch.setenv("CYCLONEDDS_URI", " ".join(text.split()))
    return next(_domains) + os.getpid() % 32


def kind(name: str) -> Any:
    """The class of a ROS 2 message, for example "std_msgs/msg/String"."""
    if name not in _classes:
        package, _, short = name.split("/")
        fields = {field: _field(form) for field, form in STORE.fielddefs[name][1]}
        _classes[name] = make_idl_struct(f"{short}_", f"{package}.msg.dds_.{short}_", fields)
    return _classes[name]


def _field(form: Any) -> Any:
    node, inner = form
    if node.name == "BASE":
        return _PRIMITIVES.get(inner[0]) or getattr(idl, inner[0])
    if node.name == "NAME":
        return kind(inner)
    element, length = inner
    return (
        idl.array[_field(element), length]
        if node.name == "ARRAY"
        else idl.sequence[_field(element)]
    )


class Peer:
    """A participant; topics have ROS names ("joint_states"), types those of rosbags."""

    def __init__(self, domain: int) -> None:
        self._participant = DomainParticipant(domain)
        self._newest: dict[Any, Any] = {}

    def reader(self, topic: str, message: Any, *policies: Any) -> DataReader[Any]:
        found = Topic(self._participant, f"rt/{topic}", _class(message))
        return DataReader(self._participant, found, Qos(*(policies or (RELIABLE,))))

    def writer(self, topic: str, message: Any, *policies: Any) -> DataWriter[Any]:
        found = Topic(self._participant, f"rt/{topic}", _class(message))
        return DataWriter(self._participant, found, Qos(*(policies or (RELIABLE,))))

    def wait(self, reader: DataReader[Any], good: Callable[[Any], bool] = bool) -> Any:
        """The first sample that is good."""
        end = time.monotonic() + SECONDS
        seen = None
        while time.monotonic() < end:
            for sample in reader.take(100):
                if not sample.sample_info.valid_data:
                    continue
                seen = sample
                if good(sample):
                    return sample
            time.sleep(0.005)
        raise AssertionError(f"nothing good came; the last was {seen}")

    def wait_for_reader(self, writer: DataWriter[Any]) -> None:
        """Until somebody listens to a writer."""
        end = time.monotonic() + SECONDS
        while not writer.get_matched_subscriptions():
            assert time.monotonic() < end, "nobody listens"
            time.sleep(0.005)


def _class(message: Any) -> Any:
    return kind(message) if isinstance(message, str) else message
