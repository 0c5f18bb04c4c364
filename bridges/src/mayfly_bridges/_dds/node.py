"""A participant of a DDS domain with the naming and the quality of service of ROS 2."""

from __future__ import annotations

import os
import sys
from typing import Any

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

_BLOCKING = duration(milliseconds=100)


def domain_of_environment() -> int:
    """ROS_DOMAIN_ID, or 0."""
    return int(os.environ.get("ROS_DOMAIN_ID", "") or 0)


def profile(depth: int, *, reliable: bool = True, latched: bool = False) -> list[Any]:
    """The policies of a ROS 2 profile; latched: transient local, for those who join late."""
    return [
        Policy.Reliability.Reliable(_BLOCKING) if reliable else Policy.Reliability.BestEffort,
        Policy.Durability.TransientLocal if latched else Policy.Durability.Volatile,
        Policy.History.KeepLast(depth),
        Policy.DataRepresentation(use_cdrv0_representation=True),
    ]


class Node:
    """Readers and writers of a domain; `topic` is the name on the wire, with its prefix `rt/`."""

    def __init__(self, domain: int) -> None:
        self._participant = DomainParticipant(domain)
        self._topics: dict[str, Any] = {}

    def writer(self, topic: str, kind: Any, policies: list[Any], type_hash: str = "") -> Any:
        """A writer; `type_hash` is the one that newer ROS 2 versions read from the user data."""
        data = [Policy.Userdata(f"typehash={type_hash};".encode())] if type_hash else []
        return DataWriter(self._participant, self._topic(topic, kind), Qos(*policies, *data))

    def reader(self, topic: str, kind: Any, policies: list[Any]) -> Any:
        """A reader, for `take`."""
        return DataReader(self._participant, self._topic(topic, kind), Qos(*policies))

    def _topic(self, name: str, kind: Any) -> Any:
        if name not in self._topics:
            self._topics[name] = Topic(self._participant, name, kind)
        return self._topics[name]


def take_all(reader: Any, most: int = 64) -> list[Any]:
    """All samples that have come; without those that only tell that a writer has left.

    A sample that is not what its type says ends the batch, with a line; the world goes on.
    """
    try:
        return [sample for sample in reader.take(most) if sample.sample_info.valid_data]
    except Exception as error:  # of the package's decoder: anything, from garbage
        text = f"{reader.topic.get_name()}: a message cannot be read: {error}"
        print(f"mayfly-bridge: {text}", file=sys.stderr, flush=True)
        return []
