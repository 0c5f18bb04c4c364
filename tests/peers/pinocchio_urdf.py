#!/usr/bin/env python3
"""Compares the equations of motion of URDF robots with Pinocchio's in random states.

usage: pinocchio_urdf.py [--least N] [--verbose] [--list LIST] PROBE FILE...

LIST is a file with more files, one a line.

PROBE is the program test_solve_urdf. Per file the total mass, the mass matrix and the forces of
random accelerations (inverse dynamics) are compared; deviations are over the largest value of the
quantity in its state. A file that differs must say so in a note: an impossible inertia that was
repaired. The exit code is 1 where one differs without such a note, or where fewer than N files are
equal to 1e-9; 77 where Pinocchio is absent.
"""
import argparse
import re
import subprocess
import sys

try:
    import numpy as np
    import pinocchio as pin
except ImportError:
    print("skipped: the Python packages pin and numpy are not installed")
    sys.exit(77)

TOLERANCE = 1e-9
# Notes after which another mass matrix is right: what they name was repaired or left out.
REASONS = re.compile(r"inertia .*(repaired|replaced|dropped)|joint '.*': its type is kept")


def answers(probe, files):
    """One dictionary per file, from the lines of the probe."""
    out = subprocess.run([probe, *files], capture_output=True, check=True).stdout.decode()
    found = []
    for line in out.splitlines():
        word, _, rest = line.partition(" ")
        if word == "file":
            found.append({"file": rest, "notes": [], "joints": [], "states": []})
        elif word == "note":
            found[-1]["notes"].append(rest[2:])
        elif word == "joint":
            address, rotor, name = rest.split(" ", 2)
            found[-1]["joints"].append((int(address), float(rotor), name))
        elif word == "q":
            found[-1]["states"].append({"q": numbers(rest)})
        elif word in ("v", "a", "force", "mass"):
            found[-1]["states"][-1][word] = numbers(rest)
        else:
            found[-1][word] = rest
    return found


def numbers(text):
    return np.array([float(word) for word in text.split()])


class Peer:
    """Pinocchio's model of a file, and its states from Mayfly's."""

    def __init__(self, path, free, joints):
        self.free = free
        self.model = (pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if free
                      else pin.buildModelFromUrdf(path))
        self.data = self.model.createData()
        offset = 6 if free else 0
        # Per velocity value of ours the one of Pinocchio, and the position value of ours.
        self.order, self.moving = list(range(offset)), []
        self.rotors = np.zeros(self.model.nv)  # of <mayfly><servo rotor_inertia>, in our order
        position = 7 if free else 0
        for address, rotor, name in joints:
            joint = self.model.joints[self.model.getJointId(name)]
            if address < 0:
                raise ValueError(f"joint {name} does not move")
            self.rotors[address:address + joint.nv] = rotor
            self.moving.append((joint, position))
            self.order += range(joint.idx_v, joint.idx_v + joint.nv)
            position += {6: 7, 3: 4}.get(joint.nv, 1)
        if sorted(self.order) != list(range(self.model.nv)):
            raise ValueError(f"{len(self.order)} velocities, Pinocchio has {self.model.nv}")

    def position(self, q):
        out = pin.neutral(self.model)
        if self.free:
            out[:7] = [*q[:3], *q[4:7], q[3]]
        for joint, at in self.moving:
            if joint.nv == 1 and joint.nq == 2:
                out[joint.idx_q:joint.idx_q + 2] = np.cos(q[at]), np.sin(q[at])
            elif joint.nv == 1:
                out[joint.idx_q] = q[at]
            else:
                raise ValueError("a joint of several axes")
        return out

    def state(self, state):
        """Mass matrix and forces in our order: linear velocities of the base in world axes."""
        q, v, a = self.position(state["q"]), np.zeros(self.model.nv), np.zeros(self.model.nv)
        turn = np.eye(self.model.nv)
        v[self.order], a[self.order] = state["v"], state["a"]
        if self.free:
            rotation = pin.Quaternion(q[3:7]).matrix()
            turn[:3, :3] = rotation.T
            v, a = turn @ v, turn @ a
            a[:3] -= np.cross(v[3:6], v[:3])
        mass = pin.crba(self.model, self.data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        force = pin.rnea(self.model, self.data, q, v, a)
        mass, force = turn.T @ mass @ turn, turn.T @ force
        mass = mass[np.ix_(self.order, self.order)] + np.diag(self.rotors)
        return mass, force[self.order] + self.rotors * state["a"]

    def total(self):
        return sum(inertia.mass for inertia in self.model.inertias)


def away(ours, theirs):
    if theirs.size == 0:
        return 0.0
    return float(np.max(np.abs(ours - theirs)) / max(np.max(np.abs(theirs)), 1e-300))


def compare(found):
    """Deviations of (total mass, mass matrix, forces)."""
    peer = Peer(found["file"], found["base"] == "free", found["joints"])
    total = peer.total()
    worst = [abs(float(found["total"]) - total) / max(total, 1e-300), 0.0, 0.0]
    for state in found["states"]:
        mass, force = peer.state(state)
        worst[1] = max(worst[1], away(state["mass"].reshape(mass.shape), mass))
        worst[2] = max(worst[2], away(state["force"], force))
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--least", type=int, default=0)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("probe")
    parser.add_argument("--list")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    files = list(args.files)
    if args.list is not None:
        with open(args.list, encoding="utf-8") as lines:
            files += lines.read().splitlines()
    counts = dict.fromkeys(("equal", "noted", "different", "refused", "not compared"), 0)
    for found in answers(args.probe, files):
        line = ""
        if "refused" in found:
            kind, line = "refused", found["refused"]
        else:
            try:
                worst = compare(found)
            except (ValueError, IndexError, RuntimeError) as error:
                kind, line = "not compared", str(error).strip().splitlines()[0]
            else:
                why = [note for note in found["notes"] if REASONS.search(note)]
                kind = ("equal" if max(worst) < TOLERANCE else "noted" if why else "different")
                line = " ".join(f"{value:.1e}" for value in worst)
                line += f"  {len(why)} notes, first: {why[0]}" if kind == "noted" else ""
        counts[kind] += 1
        if args.verbose or kind == "different":
            print(f"{kind:12} {found['file']}: {line}")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    if counts["different"] or counts["equal"] < args.least:
        sys.exit(1)


if __name__ == "__main__":
    main()
