"""MJCF of a robot from a file without MuJoCo's elements: a URDF, or a model made by calls."""

from __future__ import annotations

import pathlib
import xml.etree.ElementTree as xml
from collections.abc import Iterable, Sequence

import numpy as np

from mayfly import errors
from mayfly._native import lib
from mayfly.arrays import Array
from mayfly.model import Model
from mayfly.world import World

__all__ = ["servo_gains", "write_mjcf"]

_POINT = 1e-4  # [m] radius of a contact point, which MJCF does not have
_LEAST = 1e-9  # [kg m^2]
_NONE = 2**32 - 1


def _numbers(values: Iterable[float]) -> str:
    return " ".join(f"{value:.10g}" for value in values)


def _main_axes(inertia: Sequence[float]) -> tuple[Array, Array]:
    """Main moments and their axes as a quaternion; rods get the least one that MuJoCo takes."""
    xx, yy, zz, xy, xz, yz = inertia
    moments, axes = np.linalg.eigh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    axes[:, 2] *= np.linalg.det(axes)  # a rotation
    # The quaternion is the vector that this matrix keeps (Bar-Itzhack 2000, eq. 3).
    m, trace = axes, np.trace(axes)
    rows = np.empty((4, 4))
    rows[0] = [trace, m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]
    rows[1:, 0] = rows[0, 1:]
    rows[1:, 1:] = m + m.T - trace * np.eye(3)
    return np.maximum(moments, _LEAST), np.linalg.eigh(rows)[1][:, -1]


def servo_gains(model: Model) -> tuple[Array, Array]:
    """Gains [N m/rad] and dampings [N m s/rad] of the servos of joints; 0: none."""
    with World(step=0.005) as world:
        group = world.add_group(model, 1, motion="articulated", servo_inputs=True)
        return group["servo.gain"].read()[0], group["servo.damping"].read()[0]


def _shapes(model: Model) -> dict[int, list[dict[str, str]]]:
    """Attributes of geoms that collide, by link."""
    native, made = model._use(), {i: [] for i in range(len(model.links))}  # type: ignore[var-annotated]
    kinds = {
        lib.MF_SHAPE_BOX: "box",
        lib.MF_SHAPE_SPHERE: "sphere",
        lib.MF_SHAPE_CYLINDER: "cylinder",
        lib.MF_SHAPE_CAPSULE: "capsule",
    }
    for i in range(native.shape_count):
        shape = native.shapes[i]
        if not shape.collides or shape.type == lib.MF_SHAPE_POINT:
            continue
        if shape.type not in kinds or shape.link == _NONE:
            raise errors.UnsupportedError(
                f"export: shape {i} of {model.name!r} is not carried over"
            )
        kind, size = kinds[shape.type], list(shape.size)
        if kind == "box":
            size = [0.5 * one for one in size]
        elif kind != "sphere":
            size = [size[0], 0.5 * size[1]]
        made[shape.link].append(
            {
                "type": kind,
                "size": _numbers(size if kind != "sphere" else size[:1]),
                "pos": _numbers(shape.position),
                "quat": _numbers(shape.rotation),
                "friction": _numbers(shape.friction),
            }
        )
    for i in range(native.point_count):
        point = native.points[i]
        alone = point.shape == _NONE or native.shapes[point.shape].type == lib.MF_SHAPE_POINT
        if point.flags & lib.MF_POINT_COLLIDES and alone:
            made[point.link].append(
                {
                    "type": "sphere",
                    "size": f"{_POINT:g}",
                    "pos": _numbers(point.position),
                    "friction": "1 0.005 0.0001",
                }
            )
    return made


def write_mjcf(model: Model, path: pathlib.Path, step: float) -> None:
    """Writes links, joints with their servos, and shapes that collide with the ground.

    Contacts have the stiffness of Mayfly's default law at this physics step [s].
    """
    root = xml.Element("mujoco", model=model.name)
    xml.SubElement(root, "compiler", angle="radian", autolimits="true", inertiafromgeom="false")
    # Servos are implicit, as in Mayfly.
    xml.SubElement(root, "option", integrator="implicitfast", cone="elliptic", impratio="10")
    defaults = xml.SubElement(root, "default")
    # They touch the ground only, whose bits are 1.
    law = f"{2 * step:.10g} 1"
    xml.SubElement(
        defaults, "geom", contype="0", conaffinity="1", priority="1", solref=law, group="3"
    )
    world, actuators = xml.SubElement(root, "worldbody"), xml.SubElement(root, "actuator")
    shapes = _shapes(model)
    gains = servo_gains(model)
    bodies: list[xml.Element] = []
    for link in model.links:
        joint = None if link.index == 0 else model.joints[link.joint]
        body = xml.SubElement(world if joint is None else bodies[link.parent], "body")
        bodies.append(body)
        body.set("name", link.name)
        if joint is None:
            xml.SubElement(body, "freejoint")
        else:
            body.set("pos", _numbers(joint.position))
            body.set("quat", _numbers(joint.rotation))
            moving = xml.SubElement(body, "joint", name=joint.name, axis=_numbers(joint.axis))
            moving.set("type", joint.type)
            if np.isfinite(joint.lower) and np.isfinite(joint.upper):
                moving.set("range", _numbers((joint.lower, joint.upper)))
            rotor = joint.servo.rotor_inertia * joint.servo.gear**2
            moving.set("armature", _numbers([joint.armature + rotor]))
            moving.set("damping", _numbers([joint.damping]))
            moving.set("frictionloss", _numbers([joint.friction]))
            if gains[0][joint.index] > 0:
                servo = xml.SubElement(actuators, "position", name=joint.name, joint=joint.name)
                servo.set("kp", _numbers([float(gains[0][joint.index])]))
                servo.set("kv", _numbers([float(gains[1][joint.index])]))
                most = min(joint.effort, joint.servo.effort)
                if np.isfinite(most):
                    servo.set("forcerange", _numbers((-most, most)))
        inertia, turn = _main_axes(link.inertia)
        xml.SubElement(
            body,
            "inertial",
            pos=_numbers(link.center),
            mass=_numbers([link.mass]),
            diaginertia=_numbers(inertia),
            quat=_numbers(turn),
        )
        for attributes in shapes[link.index]:
            xml.SubElement(body, "geom", attributes)
    xml.indent(root)
    path.write_text(xml.tostring(root, encoding="unicode") + "\n")
