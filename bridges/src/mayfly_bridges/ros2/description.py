"""A URDF of a robot from the description of its group, for `robot_description`.

It has the links with their masses, the joints with their limits, and the shapes; meshes are left
out, because their files are on the computer of the simulator.
"""

from __future__ import annotations

import xml.etree.ElementTree as xml
from collections.abc import Sequence
from typing import Any

from mayfly_bridges._dds.links import Joint, Links, Pose, pose
from mayfly_bridges._rotation import angles


def urdf(links: Links) -> str:
    """The robot as URDF."""
    described = links.described
    robot = xml.Element("robot", name=str(described["name"] or "robot"))
    for index, link in enumerate(described["links"]):
        element = xml.SubElement(robot, "link", name=links.names[index])
        if link["mass"] > 0.0:
            _inertial(element, link)
        for shape in described["shapes"]:
            if shape["link"] == index and _geometry(shape) is not None:
                _shape(element, shape)
    for joint in links.joints:
        _joint(robot, joint)
    return xml.tostring(robot, encoding="unicode")


def _inertial(element: xml.Element, link: dict[str, Any]) -> None:
    part = xml.SubElement(element, "inertial")
    xml.SubElement(part, "origin", xyz=_words(link["center"]), rpy="0 0 0")
    xml.SubElement(part, "mass", value=repr(link["mass"]))
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    xml.SubElement(part, "inertia", {n: repr(v) for n, v in zip(names, link["inertia"])})


def _geometry(shape: dict[str, Any]) -> xml.Element | None:
    size = shape["size"]
    if shape["type"] == "box":
        return xml.Element("box", size=_words(size))
    if shape["type"] == "sphere":
        return xml.Element("sphere", radius=repr(size[0]))
    if shape["type"] in ("cylinder", "capsule"):  # URDF has no capsule: the part without its ends
        return xml.Element("cylinder", radius=repr(size[0]), length=repr(size[1]))
    return None


def _shape(element: xml.Element, shape: dict[str, Any]) -> None:
    uses = [use for use, on in (("visual", "visual"), ("collision", "collides")) if shape[on]]
    for use in uses:
        part = xml.SubElement(element, use)
        _origin(part, pose(shape))
        geometry = _geometry(shape)
        if geometry is not None:
            xml.SubElement(part, "geometry").append(geometry)
        if use == "visual":
            color = xml.SubElement(part, "material", name=f"color_{_words(shape['color'])}")
            xml.SubElement(color, "color", rgba=_words([*shape["color"], 1.0]))


def _joint(robot: xml.Element, joint: Joint) -> None:
    is_limited = joint.lower is not None and joint.upper is not None
    kind = "prismatic" if not joint.is_hinge else "revolute" if is_limited else "continuous"
    element = xml.SubElement(robot, "joint", name=joint.name, type=kind)
    xml.SubElement(element, "parent", link=joint.parent)
    xml.SubElement(element, "child", link=joint.child)
    _origin(element, joint.pose(0.0))
    xml.SubElement(element, "axis", xyz=_words(joint.axis))
    if kind != "continuous":
        limits = {"lower": joint.lower, "upper": joint.upper}
        limits |= {"effort": joint.effort, "velocity": joint.speed}
        found = {name: repr(0.0 if v is None else v) for name, v in limits.items()}
        xml.SubElement(element, "limit", found)


def _origin(element: xml.Element, frame: Pose) -> None:
    words = _words(angles(frame.rotation))
    xml.SubElement(element, "origin", xyz=_words(frame.position), rpy=words)


def _words(values: Sequence[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
