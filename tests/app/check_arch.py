#!/usr/bin/env python3
"""Finds how thin a semicircular arch of rigid stones with radial joints may be (check case D11).

Limit analysis (Heyman 1966; Livesley 1978): the arch stands when forces at the ends of its joints,
which only push and stay within friction 1, balance the weight of every stone. That is a linear
program; the thickness over the mean radius at which it begins to have a solution is bisected.

Needs the Python packages numpy and scipy. Run it by hand:

    python3 tests/app/check_arch.py 10 101
"""
import sys

import numpy as np
from scipy.optimize import linprog

FRICTION = 1.0


def section(corners):
    """Area and center of a polygon."""
    x, y = corners[:, 0], corners[:, 1]
    nx, ny = np.roll(x, -1), np.roll(y, -1)
    cross = x * ny - nx * y
    area = cross.sum() / 2
    return area, ((x + nx) * cross).sum() / (6 * area)


def stands(stones, thickness):
    joints = np.linspace(np.pi, 0, stones + 1)
    radii = (1 - thickness / 2, 1 + thickness / 2)
    # Unknowns per joint: push and slip force at its inner, then at its outer end.
    balance = np.zeros((3 * stones, 4 * (stones + 1)))
    load = np.zeros(3 * stones)
    friction = []
    for j, angle in enumerate(joints):
        out = np.array([np.cos(angle), np.sin(angle)])
        along = np.array([np.sin(angle), -np.cos(angle)])  # to the next stone
        for end, radius in enumerate(radii):
            place = radius * out
            for kind, force in enumerate((along, out)):
                moment = place[0] * force[1] - place[1] * force[0]
                column = 4 * j + 2 * end + kind
                for stone, sign in ((j, 1), (j - 1, -1)):
                    if 0 <= stone < stones:
                        balance[3 * stone:3 * stone + 3, column] += sign * np.append(force, moment)
        for sign in (1, -1):
            row = np.zeros(balance.shape[1])
            row[4 * j:4 * j + 4] = -FRICTION, sign, -FRICTION, sign
            friction.append(row)
    for i in range(stones):
        corners = np.array([[r * np.cos(a), r * np.sin(a)] for r, a in
                            ((radii[0], joints[i]), (radii[0], joints[i + 1]),
                             (radii[1], joints[i + 1]), (radii[1], joints[i]))])
        area, center = section(corners)
        load[3 * i + 1:3 * i + 3] = abs(area), abs(area) * center
    limits = [(0, None), (None, None)] * (2 * (stones + 1))
    found = linprog(np.zeros(balance.shape[1]), A_ub=np.array(friction),
                    b_ub=np.zeros(len(friction)), A_eq=balance, b_eq=load, bounds=limits)
    return found.status == 0


def main():
    for stones in map(int, sys.argv[1:]):
        low, high = 0.05, 0.2
        while high - low > 1e-7:
            middle = (low + high) / 2
            low, high = (low, middle) if stands(stones, middle) else (middle, high)
        print("%d stones: thickness over radius at least %.5f" % (stones, high))


if __name__ == "__main__":
    main()
