"""Compares imported models with MuJoCo's own compiler, number by number.

usage: mujoco_model.py INFO FILE...

INFO is a command that prints a model as JSON ("build/mayfly info --json"). Every body mass and
inertia, joint, geom, site, actuator, tendon, equality, sensor, keyframe and option is compared to
1e-9 of its size; body poses are compared at random joint positions, computed from the links and
joints by the rules of include/mayfly/model.h. Prints one line per file; exit status 1 when any
differs.
"""
import json
import math
import shlex
import subprocess
import sys

import mujoco
import numpy as np

TOLERANCE = 1e-9
NONE = None
KINDS = {"hinge": 3, "slide": 2, "ball": 1, "floating": 0}
SHAPES = {"plane": 0, "heights": 1, "sphere": 2, "capsule": 3, "ellipsoid": 4, "cylinder": 5,
          "box": 6, "mesh": 7}
DISABLE_BITS = ["mjDSBL_CONSTRAINT", "mjDSBL_EQUALITY", "mjDSBL_FRICTIONLOSS", "mjDSBL_LIMIT",
                "mjDSBL_CONTACT", "mjDSBL_SPRING", "mjDSBL_DAMPER", "mjDSBL_GRAVITY",
                "mjDSBL_CLAMPCTRL", "mjDSBL_FILTERPARENT", "mjDSBL_ACTUATION", "mjDSBL_REFSAFE",
                "mjDSBL_SENSOR", "mjDSBL_EULERDAMP"]


class Differences:
    def __init__(self):
        self.lines = []
        self.worst = 0.0
        self.checked = 0

    def near(self, what, ours, theirs, scale=0.0, tolerance=TOLERANCE):
        ours = np.atleast_1d(np.array(ours, dtype=float)).ravel()
        theirs = np.atleast_1d(np.array(theirs, dtype=float)).ravel()
        self.checked += len(theirs)
        if ours.shape != theirs.shape:
            self.lines.append(f"{what}: {len(ours)} numbers, MuJoCo has {len(theirs)}")
            return
        if len(ours) == 0:
            return
        size = max(np.max(np.abs(theirs)), scale, 1e-12)
        error = float(np.max(np.abs(ours - theirs))) / size
        self.worst = max(self.worst, error if math.isfinite(error) else 1e300)
        if not error <= tolerance:
            self.lines.append(f"{what}: {ours} instead of {theirs} ({error:.2g})")

    def same(self, what, ours, theirs):
        self.checked += 1
        if ours != theirs:
            self.lines.append(f"{what}: {ours!r} instead of {theirs!r}")

    def rotation(self, what, ours, theirs):
        ours, theirs = np.array(ours), np.array(theirs)
        if np.dot(ours, theirs) < 0:
            ours = -ours
        self.near(what, ours, theirs)


def multiply(a, b):
    out = np.zeros(4)
    mujoco.mju_mulQuat(out, np.array(a, dtype=float), np.array(b, dtype=float))
    return out


def rotate(q, v):
    out = np.zeros(3)
    mujoco.mju_rotVecQuat(out, np.array(v, dtype=float), np.array(q, dtype=float))
    return out


def rotation_matrix(q):
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, np.array(q, dtype=float))
    return out.reshape(3, 3)


def tensor(moments, q):
    matrix = rotation_matrix(q)
    return matrix @ np.diag(moments) @ matrix.T


def mesh_tolerance(m, body=None):
    """MuJoCo stops turning summed inertias into their principal axes early, at about 1e-7."""
    if m.nmesh > 0:
        return 2e-7
    return TOLERANCE if body is not None and m.body_geomnum[body] < 2 else 1e-8


def turn(axis, angle):
    out = np.zeros(4)
    mujoco.mju_axisAngle2Quat(out, np.array(axis, dtype=float), angle)
    return out


def unit(q):
    q = np.array(q, dtype=float)
    return q / np.linalg.norm(q)


def limits(part, name, limited, theirs):
    low, high = part[name + "lower"], part[name + "upper"]
    low = -math.inf if low is None else low
    high = math.inf if high is None else high
    if not limited:
        return [low, high] == [-math.inf, math.inf], [0.0], [0.0]
    return math.isfinite(low) and math.isfinite(high), [low, high], list(theirs)


def link_poses(ours, q):
    """Pose of every link, as mf_model_pose_at computes it."""
    place = [np.zeros(3)]
    rotation = [np.array([1.0, 0, 0, 0])]
    if ours["base"] == "free":
        place[0], rotation[0] = np.array(q[:3]), unit(q[3:7])
    for joint in ours["joints"]:
        parent = joint["parent"]
        at = place[parent] + rotate(rotation[parent], joint["position"])
        frame = multiply(rotation[parent], joint["rotation"])
        first = joint["position_address"]
        if joint["type"] == "hinge":
            frame = multiply(frame, turn(joint["axis"], q[first] - joint["reference"]))
        elif joint["type"] == "slide":
            at = at + rotate(frame, np.array(joint["axis"]) * (q[first] - joint["reference"]))
        elif joint["type"] == "ball":
            frame = multiply(frame, unit(q[first:first + 4]))
        elif joint["type"] == "floating":
            at = at + rotate(frame, q[first:first + 3])
            frame = multiply(frame, unit(q[first + 3:first + 7]))
        place.append(at)
        rotation.append(unit(frame))
    return place, rotation


def in_world(place, rotation, link, position, orientation):
    if link is None:
        return np.array(position), np.array(orientation)
    return place[link] + rotate(rotation[link], position), multiply(rotation[link], orientation)


def compare_bodies(d, ours, m):
    d.same("bodies", len(ours["bodies"]), m.nbody - 1)
    for i, body in enumerate(ours["bodies"]):
        name = m.body(i + 1).name
        what = f"body {i + 1} '{name}'"
        d.same(what + " name", body["name"], name)
        d.same(what + " parent", -1 if body["parent"] is None else body["parent"],
               int(m.body_parentid[i + 1]) - 1)
        d.near(what + " pos", body["local_position"], m.body_pos[i + 1], 1e-3)
        d.rotation(what + " quat", body["local_rotation"], m.body_quat[i + 1])
        d.near(what + " mass", body["mass"], m.body_mass[i + 1])
        if m.body_mass[i + 1] > 0:
            d.near(what + " ipos", body["center"], m.body_ipos[i + 1], 1e-3)
            d.near(what + " inertia", body["moments"], m.body_inertia[i + 1], 0.0,
                   mesh_tolerance(m, i + 1))
            # Of nearly equal moments the axes are arbitrary; what counts is the tensor.
            d.near(what + " inertia tensor", tensor(body["moments"], body["axes"]),
                   tensor(m.body_inertia[i + 1], m.body_iquat[i + 1]), 0.0,
                   mesh_tolerance(m, i + 1))
            d.near(what + " iquat", np.abs(rotation_matrix(body["axes"])),
                   np.abs(rotation_matrix(m.body_iquat[i + 1])), 1.0, 1e-4)
        d.near(what + " gravcomp", body["gravity_compensated"], m.body_gravcomp[i + 1], 1.0)


def compare_joints(d, ours, m):
    joints = ([ours["root"]] if ours["base"] == "free" else []) + ours["joints"]
    d.same("joints", len(joints), m.njnt)
    d.same("nq", ours["position_count"], m.nq)
    d.same("nv", ours["velocity_count"], m.nv)
    d.near("qpos0", ours["start_position"], m.qpos0, 1e-3)
    for j, joint in enumerate(joints[:m.njnt]):
        what = f"joint {j} '{m.joint(j).name}'"
        dof = m.jnt_dofadr[j]
        if m.joint(j).name:
            d.same(what + " name", joint["name"], m.joint(j).name)
        d.same(what + " type", KINDS[joint["type"]], int(m.jnt_type[j]))
        d.same(what + " qposadr", joint["position_address"], int(m.jnt_qposadr[j]))
        d.same(what + " dofadr", joint["velocity_address"], int(dof))
        d.same(what + " body", joint["body"], int(m.jnt_bodyid[j]) - 1)
        fine, a, b = limits(joint, "", m.jnt_limited[j], m.jnt_range[j])
        d.same(what + " limited", fine, True)
        d.near(what + " range", a, b, 1e-3)
        if joint["type"] in ("hinge", "slide"):
            d.near(what + " axis", joint["axis"], m.jnt_axis[j])
            d.near(what + " springref", joint["spring_reference"],
                   m.qpos_spring[m.jnt_qposadr[j]], 1e-3)
            fine, a, b = limits(joint, "force_", m.jnt_actfrclimited[j], m.jnt_actfrcrange[j])
            d.same(what + " actfrclimited", fine, True)
            d.near(what + " actfrcrange", a, b)
        if joint["type"] in ("hinge", "ball"):
            d.near(what + " pos", joint["anchor"], m.jnt_pos[j], 1e-3)
        d.near(what + " stiffness", joint["stiffness"], np.atleast_1d(m.jnt_stiffness[j])[0])
        d.near(what + " damping", joint["damping"], np.atleast_1d(m.dof_damping[dof])[0])
        d.near(what + " frictionloss", joint["friction"], m.dof_frictionloss[dof])
        own = joint["armature"]
        for actuator in ours["actuators"]:
            if actuator["joint"] is not None and ours["joints"][actuator["joint"]] is joint:
                own += 0.0  # MuJoCo keeps it with the actuator, too
        d.near(what + " armature", own, m.dof_armature[dof])
        d.near(what + " margin", joint["limit_margin"], m.jnt_margin[j], 1e-3)
        d.near(what + " solreflimit", joint["limit_softness"]["reference"], m.jnt_solref[j])
        d.near(what + " solimplimit", joint["limit_softness"]["impedance"], m.jnt_solimp[j])


def compare_geoms(d, ours, m):
    d.same("geoms", len(ours["shapes"]), m.ngeom)
    for g, shape in enumerate(ours["shapes"][:m.ngeom]):
        what = f"geom {g} '{m.geom(g).name}'"
        kind = int(m.geom_type[g])
        d.same(what + " name", shape["name"], m.geom(g).name)
        d.same(what + " type", SHAPES[shape["type"]], kind)
        d.same(what + " body", -1 if shape["body"] is None else shape["body"],
               int(m.geom_bodyid[g]) - 1)
        if kind == 7:
            # MuJoCo moves the mesh into its inertial frame and the geom with it.
            mesh = m.geom_dataid[g]
            at = np.array(shape["local_position"]) + rotate(shape["local_rotation"],
                                                            m.mesh_pos[mesh])
            d.near(what + " pos", at, m.geom_pos[g], 1e-3)
            d.rotation(what + " quat", multiply(shape["local_rotation"], m.mesh_quat[mesh]),
                       m.geom_quat[g])
        elif kind == 1:
            pass
        else:
            d.near(what + " pos", shape["local_position"], m.geom_pos[g], 1e-3)
            d.rotation(what + " quat", shape["local_rotation"], m.geom_quat[g])
        half = np.array(m.geom_size[g])
        size = {0: [2 * half[0], 2 * half[1]], 2: half[:1], 3: [half[0], 2 * half[1]], 4: half,
                5: [half[0], 2 * half[1]], 6: 2 * half}.get(kind)
        if size is not None:
            d.near(what + " size", shape["size"][:len(size)], size)
        d.same(what + " contype", shape["contact_type"], int(m.geom_contype[g]) & 0xffffffff)
        d.same(what + " conaffinity", shape["contact_with"],
               int(m.geom_conaffinity[g]) & 0xffffffff)
        d.same(what + " condim", shape["dimension"], int(m.geom_condim[g]))
        d.same(what + " priority", shape["priority"], int(m.geom_priority[g]))
        d.same(what + " group", shape["group"], int(m.geom_group[g]))
        d.near(what + " friction", shape["friction"], m.geom_friction[g])
        d.near(what + " solmix", shape["mix"], m.geom_solmix[g])
        d.near(what + " solref", shape["softness"]["reference"], m.geom_solref[g])
        d.near(what + " solimp", shape["softness"]["impedance"], m.geom_solimp[g])
        d.near(what + " margin", shape["margin"], m.geom_margin[g], 1e-6)
        d.near(what + " gap", shape["gap"], m.geom_gap[g], 1e-6)


def compare_hulls(d, ours, m):
    for mesh in ours["meshes"]:
        index = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_MESH, mesh["name"])
        if index < 0 or mesh["hull_vertex_count"] == 0 or m.mesh_graphadr[index] < 0:
            continue
        # Both come from qhull, but MuJoCo hulls the unscaled numbers: a few corners in nearly flat
        # faces may be kept by one and not by the other.
        theirs = int(m.mesh_graph[m.mesh_graphadr[index]])
        d.checked += 1
        if abs(mesh["hull_vertex_count"] - theirs) > max(2, 0.03 * theirs):
            d.lines.append(f"hull of '{mesh['name']}': {mesh['hull_vertices']} instead of {theirs}")


def compare_actuators(d, ours, m):
    d.same("actuators", len(ours["actuators"]), m.nu)
    d.same("na", ours["activation_count"], m.na)
    for a, actuator in enumerate(ours["actuators"][:m.nu]):
        what = f"actuator {a} '{m.actuator(a).name}'"
        d.same(what + " name", actuator["name"], m.actuator(a).name)
        d.near(what + " gear", actuator["gear"], m.actuator_gear[a])
        d.near(what + " gainprm", actuator["gain"], m.actuator_gainprm[a][:3])
        d.near(what + " biasprm", actuator["bias"], m.actuator_biasprm[a][:3], 1e-6)
        fine, x, y = limits(actuator, "control_", m.actuator_ctrllimited[a],
                            m.actuator_ctrlrange[a])
        d.same(what + " ctrllimited", fine, True)
        d.near(what + " ctrlrange", x, y)
        fine, x, y = limits(actuator, "force_", m.actuator_forcelimited[a],
                            m.actuator_forcerange[a])
        d.same(what + " forcelimited", fine, True)
        d.near(what + " forcerange", x, y)
        dynamics = {"none": 0, "integrator": 1, "filter": 2, "filterexact": 3}
        d.same(what + " dyntype", dynamics[actuator["dynamics"]], int(m.actuator_dyntype[a]))
        if dynamics[actuator["dynamics"]] >= 2:
            d.near(what + " dynprm", actuator["time_constant"], m.actuator_dynprm[a][0])
        kind = {"joint": 0, "jointinparent": 1, "tendon": 3, "site": 4, "body": 5}[actuator["drive"]]
        d.same(what + " trntype", kind, int(m.actuator_trntype[a]))
        target = actuator[("joint", "joint", "", "tendon", "site", "body")[kind]]
        target += kind == 5  # MuJoCo counts the world
        shift = 1 if kind < 2 and ours["base"] == "free" else 0
        d.same(what + " trnid", target + shift, int(m.actuator_trnid[a][0]))


def part_of(items, tendon, what):
    """The terms or pieces of the path of a tendon."""
    first = tendon[f"first_{what}"] or 0
    return items[first:first + tendon[f"{what}_count"]]


def compare_path(d, what, path, m, own):
    kinds = {"pulley": 2, "site": 3, "sphere": 4, "cylinder": 5}
    d.same(what + " path", [kinds[e["type"]] for e in path], [int(k) for k in m.wrap_type[own]])
    for element, index, number in zip(path, m.wrap_objid[own], m.wrap_prm[own]):
        if element["type"] == "site":
            d.same(what + " site", element["object"], int(index))
        elif element["type"] == "pulley":
            d.near(what + " divisor", element["divisor"], number)


def compare_tendons(d, ours, m):
    d.same("tendons", len(ours["tendons"]), m.ntendon)
    for t, tendon in enumerate(ours["tendons"][:m.ntendon]):
        what = f"tendon {t} '{m.tendon(t).name}'"
        fine, x, y = limits(tendon, "", m.tendon_limited[t], m.tendon_range[t])
        d.same(what + " limited", fine, True)
        d.near(what + " range", x, y)
        d.near(what + " stiffness", tendon["stiffness"], np.atleast_1d(m.tendon_stiffness[t])[0])
        d.near(what + " damping", tendon["damping"], np.atleast_1d(m.tendon_damping[t])[0])
        d.near(what + " frictionloss", tendon["friction"], m.tendon_frictionloss[t])
        d.near(what + " armature", tendon["armature"], m.tendon_armature[t])
        d.near(what + " lengthspring", [tendon["spring_lower"], tendon["spring_upper"]], m.tendon_lengthspring[t], 1e-6)
        first, count = int(m.tendon_adr[t]), int(m.tendon_num[t])
        if tendon["wrap_count"]:
            compare_path(d, what, part_of(ours["tendon_wraps"], tendon, "wrap"), m, slice(first, first + count))
            continue
        shift = 1 if ours["base"] == "free" else 0
        terms = part_of(ours["tendon_terms"], tendon, "term")
        d.same(what + " joints", [term["joint"] + shift for term in terms],
               [int(j) for j in m.wrap_objid[first:first + count]])
        d.near(what + " coef", [term["coefficient"] for term in terms],
               m.wrap_prm[first:first + count])


def compare_equalities(d, ours, m, place, rotation):
    d.same("equalities", len(ours["equalities"]), m.neq)
    kinds = {"connect": 0, "weld": 1, "joint": 2, "tendon": 3}
    for e, equality in enumerate(ours["equalities"][:m.neq]):
        what = f"equality {e}"
        d.same(what + " type", kinds[equality["type"]], int(m.eq_type[e]))
        d.same(what + " active", equality["active"], bool(m.eq_active0[e]))
        d.near(what + " solref", equality["softness"]["reference"], m.eq_solref[e])
        d.near(what + " solimp", equality["softness"]["impedance"], m.eq_solimp[e])
        if kinds[equality["type"]] >= 2:
            d.near(what + " polycoef", equality["coefficients"], m.eq_data[e][:5])
            continue
        # At the start position both frames are in the same place, unless the file says otherwise.
        first, second = equality["frames"]
        a, qa = in_world(place, rotation, first["link"], first["position"], first["rotation"])
        b, qb = in_world(place, rotation, second["link"], second["position"], second["rotation"])
        if int(m.eq_objtype[e]) == int(mujoco.mjtObj.mjOBJ_BODY):
            one, two = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
            data = mujoco.MjData(m)
            mujoco.mj_forward(m, data)
            at = [3, 0] if equality["type"] == "weld" else [0, 3]
            d.near(what + " first", a, data.xpos[one] + rotate(
                data.xquat[one], m.eq_data[e][at[0]:at[0] + 3]), 1e-2)
            d.near(what + " second", b, data.xpos[two] + rotate(
                data.xquat[two], m.eq_data[e][at[1]:at[1] + 3]), 1e-2)
            if equality["type"] == "weld":
                d.rotation(what + " relative", qa, multiply(data.xquat[one], m.eq_data[e][6:10]))
                d.rotation(what + " second quat", qb, data.xquat[two])
                d.near(what + " torquescale", equality["torque_scale"], m.eq_data[e][10])


def compare_rest(d, ours, m):
    d.same("sensors", len(ours["sensors"]), m.nsensor)
    for s, sensor in enumerate(ours["sensors"][:m.nsensor]):
        what = f"sensor {s} '{m.sensor(s).name}'"
        d.same(what + " name", sensor["name"], m.sensor(s).name)
        d.same(what + " dim", sensor["count"], int(m.sensor_dim[s]))
        d.same(what + " adr", sensor["address"], int(m.sensor_adr[s]))
        d.near(what + " noise", sensor["signal"]["noise"], m.sensor_noise[s], 1e-6)
        d.near(what + " cutoff", sensor["signal"]["range"][1], m.sensor_cutoff[s], 1e-6)
    d.same("sensor values", ours["sensor_value_count"], m.nsensordata)
    d.same("keyframes", len(ours["keyframes"]), m.nkey)
    for k, key in enumerate(ours["keyframes"][:m.nkey]):
        what = f"key {k}"
        # MuJoCo stores quaternions normalized; the model keeps the file's numbers.
        qpos = np.array(key["position"])
        mujoco.mj_normalizeQuat(m, qpos)
        d.near(what + " qpos", qpos, m.key_qpos[k], 1e-3)
        d.near(what + " qvel", key["velocity"], m.key_qvel[k], 1e-3)
        d.near(what + " act", key["activation"], m.key_act[k], 1e-3)
        d.near(what + " ctrl", key["control"], m.key_ctrl[k], 1e-3)
        d.near(what + " time", key["time"], m.key_time[k], 1e-3)
    d.same("pairs", len(ours["pairs"]), m.npair)
    d.same("excludes", len(ours["exclusions"]), m.nexclude)
    physics = ours["physics"]
    d.near("timestep", physics["step"], m.opt.timestep)
    d.near("gravity", physics["gravity"], m.opt.gravity, 1.0)
    d.near("wind", physics["wind"], m.opt.wind, 1.0)
    d.near("density", physics["density"], m.opt.density, 1e-6)
    d.near("viscosity", physics["viscosity"], m.opt.viscosity, 1e-9)
    d.near("impratio", physics["friction_impedance_ratio"], m.opt.impratio)
    d.same("noslip_iterations", physics["noslip_iterations"], m.opt.noslip_iterations)
    d.near("noslip_tolerance", physics["noslip_tolerance"], m.opt.noslip_tolerance)
    if int(m.opt.solver) == int(mujoco.mjtSolver.mjSOL_NEWTON):
        d.same("iterations", physics["solver_iterations"], m.opt.iterations)
        d.near("tolerance", physics["solver_tolerance"], m.opt.tolerance, 1e-8)
    d.same("integrator", ["Euler", "RK4", "implicit", "implicitfast"].index(physics["integrator"]),
           int(m.opt.integrator))
    d.same("cone", ["pyramidal", "elliptic"].index(physics["cone"]), int(m.opt.cone))
    for bit, name in enumerate(DISABLE_BITS):
        theirs = bool(m.opt.disableflags & int(getattr(mujoco.mjtDisableBit, name)))
        d.same(name, bool(physics["disabled"] >> bit & 1), theirs)


def random_positions(m, generator):
    q = np.array(m.qpos0)
    for j in range(m.njnt):
        first, kind = int(m.jnt_qposadr[j]), int(m.jnt_type[j])
        if kind == 0:
            q[first:first + 3] += generator.normal(size=3)
            q[first + 3:first + 7] = unit(generator.normal(size=4))
        elif kind == 1:
            q[first:first + 4] = unit(generator.normal(size=4))
        else:
            q[first] += generator.normal()
    return q


def compare_poses(d, ours, m):
    data = mujoco.MjData(m)
    generator = np.random.default_rng(1)
    for trial in range(5):
        data.qpos[:] = m.qpos0 if trial == 0 else random_positions(m, generator)
        mujoco.mj_kinematics(m, data)
        mujoco.mj_comPos(m, data)
        place, rotation = link_poses(ours, data.qpos)
        for i, body in enumerate(ours["bodies"]):
            at, q = in_world(place, rotation, body["link"], body["position"], body["rotation"])
            what = f"pose of body '{body['name']}' (trial {trial})"
            d.near(what, at, data.xpos[i + 1], 1.0)
            d.rotation(what, q, data.xquat[i + 1])
        for s, site in enumerate(ours["sites"]):
            f = site["frame"]
            at, q = in_world(place, rotation, f["link"], f["position"], f["rotation"])
            d.near(f"pose of site {s}", at, data.site_xpos[s], 1.0)
        # Links carry the mass of all their bodies.
        total, moment = 0.0, np.zeros(3)
        for i, link in enumerate(ours["links"]):
            total += link["mass"]
            moment += link["mass"] * (place[i] + rotate(rotation[i], link["center"]))
        for i, body in enumerate(ours["bodies"]):
            if body["link"] is None:
                total += body["mass"]
                moment += body["mass"] * np.array(data.xipos[i + 1])
        d.near("total mass", total, m.body_subtreemass[0])
        d.near("center of mass", moment, data.subtree_com[0] * m.body_subtreemass[0], total)
        # The mass matrix from the links' inertias.
        compare_inertia(d, ours, m, data, place, rotation)
    return link_poses(ours, m.qpos0)


def compare_inertia(d, ours, m, data, place, rotation):
    """Kinetic energy of a random velocity, link by link, against v' M v of MuJoCo."""
    generator = np.random.default_rng(2)
    v = generator.normal(size=m.nv)
    velocity, rate = [np.zeros(3)], [np.zeros(3)]
    armature = 0.0
    if ours["base"] == "free":
        velocity[0] = v[:3]
        rate[0] = rotate(rotation[0], v[3:6])
    for joint in ours["joints"]:
        parent, child, first = joint["parent"], joint["child"], joint["velocity_address"]
        w = rate[parent].copy()
        u = velocity[parent] + np.cross(rate[parent], place[child] - place[parent])
        if joint["type"] == "hinge":
            w = w + rotate(rotation[child], joint["axis"]) * v[first]
        elif joint["type"] == "slide":
            u = u + rotate(rotation[child], joint["axis"]) * v[first]
        elif joint["type"] == "ball":
            w = w + rotate(rotation[child], v[first:first + 3])
        elif joint["type"] == "floating":
            u = u + v[first:first + 3]
            w = w + rotate(rotation[child], v[first + 3:first + 6])
        rate.append(w)
        velocity.append(u)
    energy = 0.0
    for i, link in enumerate(ours["links"]):
        xx, yy, zz, xy, xz, yz = link["inertia"]
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        back = np.array([rotation[i][0], *(-rotation[i][1:])])
        local = rotate(back, rate[i])
        speed = velocity[i] + np.cross(rate[i], rotate(rotation[i], link["center"]))
        energy += link["mass"] * speed @ speed + local @ inertia @ local
    joints = ([ours["root"]] if ours["base"] == "free" else []) + ours["joints"]
    counts = {"hinge": 1, "slide": 1, "ball": 3, "floating": 6}
    for joint in joints:
        first = joint["velocity_address"]
        part = v[first:first + counts[joint["type"]]]
        energy += joint["armature"] * part @ part
    for tendon in ours["tendons"]:
        rate_of = sum(t["coefficient"] * v[ours["joints"][t["joint"]]["velocity_address"]]
                      for t in part_of(ours["tendon_terms"], tendon, "term"))
        energy += tendon["armature"] * rate_of ** 2
    for actuator in ours["actuators"]:
        if actuator["joint"] is not None:
            first = ours["joints"][actuator["joint"]]["velocity_address"]
            energy += actuator["armature"] * (actuator["gear"][0] * v[first]) ** 2
    mujoco.mj_tendon(m, data)
    mujoco.mj_transmission(m, data)
    mujoco.mj_makeM(m, data)
    out = np.zeros(m.nv)
    mujoco.mj_mulM(m, data, out, v)
    d.near("kinetic energy", energy, v @ out, 0.0, mesh_tolerance(m))


def compare(command, path):
    done = subprocess.run(command + [path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr.strip()
    ours = json.loads(done.stdout)
    m = mujoco.MjModel.from_xml_path(path)
    d = Differences()
    compare_bodies(d, ours, m)
    compare_joints(d, ours, m)
    compare_geoms(d, ours, m)
    compare_hulls(d, ours, m)
    compare_actuators(d, ours, m)
    compare_tendons(d, ours, m)
    if not d.lines:
        place, rotation = compare_poses(d, ours, m)
        compare_equalities(d, ours, m, place, rotation)
    compare_rest(d, ours, m)
    return d, None


def main():
    command, failed = shlex.split(sys.argv[1]), 0
    for path in sys.argv[2:]:
        d, refused = compare(command, path)
        if d is None:
            failed += 1
            print(f"REFUSED {path}: {refused}")
        elif d.lines:
            failed += 1
            print(f"DIFFERS {path}: {len(d.lines)} of {d.checked}")
            for line in d.lines[:20]:
                print("   ", line)
        else:
            print(f"same    {path}: {d.checked} numbers, worst {d.worst:.2g}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
