"""Which robots the bridge knows: the family of their messages and the order of their motors."""

from __future__ import annotations

import dataclasses

import mayfly
from mayfly_bridges._dds.links import Links

_LEGS = ("FR", "FL", "RR", "RL")
_LEG = ("hip", "thigh", "calf")
_G1_LEG = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
_G1_ARM = (
    "shoulder_pitch",
    "shoulder_roll",
    "shoulder_yaw",
    "elbow",
    "wrist_roll",
    "wrist_pitch",
    "wrist_yaw",
)


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of robot: `package` of its messages, motors in the order of the SDK, feet."""

    name: str
    package: str
    motors: tuple[str, ...]  # names of joints
    feet: tuple[str, ...]  # joints that move the links of the feet, in the order of foot_force


KINDS = (
    Kind(
        "go2",
        "unitree_go",
        tuple(f"{leg}_{part}_joint" for leg in _LEGS for part in _LEG),
        tuple(f"{leg}_calf_joint" for leg in _LEGS),
    ),
    Kind(
        "g1",
        "unitree_hg",
        (
            *(f"{side}_{part}_joint" for side in ("left", "right") for part in _G1_LEG),
            *(f"waist_{axis}_joint" for axis in ("yaw", "roll", "pitch")),
            *(f"{side}_{part}_joint" for side in ("left", "right") for part in _G1_ARM),
        ),
        (),
    ),
)


def find_kind(links: Links, name: str | None) -> Kind:
    """The kind of a robot by name, else by the names of its joints.

    UnsupportedError: it has none of the joints. A robot may lack some: those motors stay off, as on
    the G1 with 23 joints.
    """
    joints = {joint.name for joint in links.joints}
    for kind in KINDS:
        if kind.name == name or (name is None and joints & set(kind.motors)):
            if not joints & set(kind.motors):
                break
            return kind
    known = "; ".join(f"{kind.name}: {', '.join(kind.motors[:3])} ..." for kind in KINDS)
    raise mayfly.UnsupportedError(f"the robot has no joints with names of the SDK ({known})")
