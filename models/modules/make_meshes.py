#!/usr/bin/env python3
"""Writes the convex meshes of the modular robots, and prints the inertias of their links.

usage: make_meshes.py [FOLDER]      writes the OBJ files into FOLDER (default: meshes, beside this file)
       make_meshes.py --inertia     prints mass, center and inertia of each link with a mesh, as in the URDF files

Vertices are whole tenths of a micrometer, so that the hull is exact and every run writes the same bytes.

SuperBot (three files of 78 points, used eight times: 624 points)
  arm    side plate of a fork: a rectangle with a half disk around the joint's axis, 6 mm thick
  drum   inner body: a block with a half cylinder around the joint's axis, between the arms
  disk   face of the roll joint, a prism of 39 sides
ATRON (one file of 276 points, used twice: 552 points)
  hemisphere   hull of a half sphere and of four connection plates, which are tilted by 45 degrees
"""

import math
import pathlib
import sys

UNIT = 1e-7  # [m]

# [mm] SuperBot: half the width of a module, and of the inner body between the arms.
HALF, INNER = 42.0, 36.0
ARM_RADIUS = 41.5  # leaves 0.5 mm to the other half of the module
DISK_RADIUS = 35.0

# [mm] ATRON: neighbors are 80 sqrt(2) mm apart, so that their plates meet halfway.
SPHERE = 55.0
PLATE_DISTANCE = 40.0 * math.sqrt(2.0)
PLATE_RADIUS = 15.0
SECTOR = {"plate": 20, "equator": 17, "sphere": 32}  # points in each quarter: 69


def rounded(point):
    """A point [mm] in units."""
    return tuple(round(value * 1e-3 / UNIT) for value in point)


def subtract(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def height(points, face, point):
    """Positive where `point` is outside of the plane of a counterclockwise face; exact."""
    origin = points[face[0]]
    normal = cross(subtract(points[face[1]], origin), subtract(points[face[2]], origin))
    return dot(normal, subtract(point, origin))


def hull(points):
    """The triangles of the convex hull: each point in turn replaces the faces that it sees."""
    second = next(i for i in range(1, len(points)) if points[i] != points[0])
    third = next(i for i in range(len(points)) if any(
        cross(subtract(points[second], points[0]), subtract(points[i], points[0]))))
    fourth = next(i for i in range(len(points)) if height(points, (0, second, third), points[i]))
    if height(points, (0, second, third), points[fourth]) > 0:
        second, third = third, second
    faces = {(0, second, third), (second, 0, fourth), (third, second, fourth), (0, third, fourth)}
    for number, point in enumerate(points):
        seen = [face for face in faces if height(points, face, point) > 0]
        edges = {(face[i], face[(i + 1) % 3]) for face in seen for i in range(3)}
        faces.difference_update(seen)
        faces.update((a, b, number) for a, b in edges if (b, a) not in edges)
    return sorted(faces)


def prism(profile, low, high, place):
    """A convex profile, counterclockwise from its end `high`, drawn out from `low` to `high`."""
    count = len(profile)
    points = [rounded(place(a, b, end)) for end in (low, high) for a, b in profile]
    sides = [(i, (i + 1) % count, count + (i + 1) % count, count + i) for i in range(count)]
    return points, [tuple(range(count - 1, -1, -1)), *sides, tuple(range(count, 2 * count))]


def half_disk(radius, corners):
    """A half disk of 37 points in steps of 5 degrees on the side of positive first coordinate, and two corners."""
    arc = [math.radians(5.0 * i - 90.0) for i in range(37)]
    return [(radius * math.cos(angle), radius * math.sin(angle)) for angle in arc] + corners


def along_y(a, b, end):
    return (b, end, a)


def superbot_arm():
    front = [(ARM_RADIUS, INNER), (-ARM_RADIUS, INNER)]
    profile = [(z, -x) for x, z in half_disk(ARM_RADIUS, [])] + front
    return prism(profile, -0.5 * (HALF - INNER), 0.5 * (HALF - INNER), along_y)


def superbot_drum():
    profile = [(-z, x) for x, z in half_disk(INNER, [(-INNER, INNER), (-INNER, -INNER)])]
    return prism(profile, -INNER, INNER, along_y)


def superbot_disk():
    turns = [2.0 * math.pi * i / 39 for i in range(39)]
    profile = [(DISK_RADIUS * math.sin(-turn), DISK_RADIUS * math.cos(turn)) for turn in turns]
    return prism(profile, -0.5 * (HALF - INNER), 0.5 * (HALF - INNER), lambda a, b, end: (end, a, b))


def atron_plate():
    """The rim of the plate of the first quarter."""
    side, out, points = math.sqrt(0.5), PLATE_DISTANCE, []
    for i in range(SECTOR["plate"]):
        angle = 2.0 * math.pi * (i + 0.5) / SECTOR["plate"]
        level, rise = PLATE_RADIUS * math.cos(angle), PLATE_RADIUS * math.sin(angle)
        radial = (out - rise) * side  # from the axis, at 45 degrees
        points.append((radial * side - level * side, radial * side + level * side, (out + rise) * side))
    return points


def atron_sphere():
    """Points of a spiral on the sphere of the first quarter, off the equator, that the hull of the plates leaves free."""
    reach = math.hypot(PLATE_DISTANCE, PLATE_RADIUS)
    shadow = math.atan2(PLATE_RADIUS, PLATE_DISTANCE) + math.acos(SPHERE / reach) + math.radians(0.5)
    plates = [(0.5 * x, 0.5 * y, math.sqrt(0.5)) for x in (1, -1) for y in (1, -1)]
    for count in range(1, 2000):
        kept = []
        for i in range(count):
            z = 0.04 + 0.955 * (i + 0.5) / count
            angle = 0.5 * math.pi * ((i * 0.6180339887498949) % 1.0)
            point = (math.sqrt(1 - z * z) * math.cos(angle), math.sqrt(1 - z * z) * math.sin(angle), z)
            if all(dot(point, plate) < math.cos(shadow) for plate in plates):
                kept.append(tuple(SPHERE * value for value in point))
        if len(kept) == SECTOR["sphere"]:
            return kept
    raise SystemExit("make_meshes: no spiral has as many points")


def atron_hemisphere():
    count = SECTOR["equator"]
    angles = [0.5 * math.pi * i / count for i in range(count)]
    quarter = atron_plate() + atron_sphere() + [
        (SPHERE * math.cos(angle), SPHERE * math.sin(angle), 0.0) for angle in angles]
    turns = [lambda x, y: (x, y), lambda x, y: (-y, x), lambda x, y: (-x, -y), lambda x, y: (y, -x)]
    points = [rounded((*turn(x, y), z)) for turn in turns for x, y, z in quarter]
    return points, hull(points)


MESHES = {"superbot_arm": superbot_arm, "superbot_drum": superbot_drum, "superbot_disk": superbot_disk,
          "atron_hemisphere": atron_hemisphere}


def obj(name):
    points, faces = MESHES[name]()
    lines = [f"# {name}: {len(points)} points, written by make_meshes.py"]
    lines += ["v " + " ".join(f"{value * UNIT:.7f}" for value in point) for point in points]
    lines += ["f " + " ".join(str(number + 1) for number in face) for face in faces]
    return "\n".join(lines) + "\n"


# ---- inertias ------------------------------------------------------------------------------------


def moments(mesh):
    """Volume [m^3], first and second moments [m^4, m^5] of a closed mesh, as sums over tetrahedra from the origin."""
    points, faces = mesh
    volume, first, second = 0.0, [0.0] * 3, [[0.0] * 3 for _ in range(3)]
    for face in faces:
        for i in range(1, len(face) - 1):
            a, b, c = ([value * UNIT for value in points[face[k]]] for k in (0, i, i + 1))
            part = dot(a, cross(b, c)) / 6.0
            volume += part
            total = [a[k] + b[k] + c[k] for k in range(3)]
            for k in range(3):
                first[k] += part * total[k] / 4.0
                for m in range(3):
                    own = a[k] * a[m] + b[k] * b[m] + c[k] * c[m]
                    second[k][m] += part * (total[k] * total[m] + own) / 20.0
    return volume, first, second


def block(size, center):
    """A box [m] as a mesh."""
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    points = [rounded([1e3 * (center[k] + 0.5 * size[k] * corner[k]) for k in range(3)]) for corner in corners]
    return points, hull(points)


def moved(name, by):
    points, faces = MESHES[name]()
    shift = rounded([1e3 * value for value in by])
    return [tuple(point[k] + shift[k] for k in range(3)) for point in points], faces


# Mass [kg] and parts, in the frame of the link. The back half of a SuperBot is the front one, turned.
LINKS = {
    "superbot end": (0.06, [block((0.006, 0.084, 0.084), (0.039, 0, 0)),
                            moved("superbot_arm", (0, 0.039, 0)), moved("superbot_arm", (0, -0.039, 0))]),
    "superbot inner": (0.19, [moved("superbot_drum", (0.042, 0, 0)), moved("superbot_disk", (0.003, 0, 0))]),
    "atron hemisphere": (0.425, [moved("atron_hemisphere", (0, 0, 0))]),
}


def print_inertias():
    for name, (mass, parts) in LINKS.items():
        sums = [moments(part) for part in parts]
        density = mass / sum(part[0] for part in sums)
        center = [density * sum(part[1][k] for part in sums) / mass for k in range(3)]
        spread = [[density * sum(part[2][k][m] for part in sums) - mass * center[k] * center[m]
                   for m in range(3)] for k in range(3)]
        trace = spread[0][0] + spread[1][1] + spread[2][2]
        print(f"{name}: {mass} kg, {density:.1f} kg/m^3, center",
              " ".join(f"{value:.6f}" for value in center), "ixx iyy izz",
              " ".join(f"{trace - spread[k][k]:.6e}" for k in range(3)), "ixy ixz iyz",
              " ".join(f"{-spread[k][m]:.1e}" for k, m in ((0, 1), (0, 2), (1, 2))))


def main():
    if sys.argv[1:] == ["--inertia"]:
        print_inertias()
        return
    folder = pathlib.Path(sys.argv[1]) if sys.argv[1:] else pathlib.Path(__file__).parent / "meshes"
    folder.mkdir(parents=True, exist_ok=True)
    for name in MESHES:
        (folder / f"{name}.obj").write_text(obj(name), encoding="ascii", newline="\n")


if __name__ == "__main__":
    main()
