// Modules that dock to chains and rings: two boxes of 0.1 m on a hinge about y in the middle, with
// a dock at each end, x to x; and the same chain as one model.
#pragma once

#include "solve/joints_rig.h"

enum { BACK, FRONT }; // docks of a module

static const double quarter = 1.5707963267948966;

// What boxes and hinges have, as attributes.
typedef struct ModuleForm {
    const char *box, *hinge;
} ModuleForm;

static const ModuleForm ghosts = {"size='0.05 0.04 0.03' contype='0' conaffinity='0'", ""},
                        solids = {"size='0.05 0.04 0.03'", ""},
                        slim = {"size='0.045 0.04 0.03'",
                                "damping='0.01'"}; // neighbors do not touch

// `dock`: more attributes of both docks; the one in front is `aside` [m] out of its plane.
static inline const char *module_text(ModuleForm form, const char *dock, double aside) {
    return formatted(
        "<mujoco model='module'><worldbody><body name='left'><freejoint/>"
        "<geom type='box' %s pos='-0.05 0 0' mass='0.5'/>"
        "<body name='right'><joint name='hinge' axis='0 1 0' %s/>"
        "<geom type='box' %s pos='0.05 0 0' mass='0.3'/></body></body></worldbody><custom>"
        "<text name='dock:back' data='body=left xyz=-0.1,0,0 quat=0,0,0,1 %s'/>"
        "<text name='dock:front' data='body=right xyz=0.1,%g,0 %s'/></custom></mujoco>",
        form.box, form.hinge, form.box, dock, aside, dock);
}

static inline mf_Model *module_of(mf_Context *context, ModuleForm form, const char *dock,
                                  double aside) {
    return load_text(context, module_text(form, dock, aside));
}

// `count` modules as nested bodies: the left half of each is part of the right one before.
static inline mf_Model *chain_of(mf_Context *context, ModuleForm form, uint32_t count) {
    const char *text = formatted("<mujoco model='chain'><worldbody><body name='left'><freejoint/>"
                                 "<geom type='box' %s pos='-0.05 0 0' mass='0.5'/>",
                                 form.box);
    for (uint32_t i = 0; i < count; i++) {
        text = formatted("%s<body pos='%g 0 0'><joint name='h%u' axis='0 1 0' %s/>"
                         "<geom type='box' %s pos='0.05 0 0' mass='0.3'/>",
                         text, i > 0 ? 0.2 : 0.0, i, form.hinge, form.box);
        if (i + 1 < count)
            text = formatted("%s<geom type='box' %s pos='0.15 0 0' mass='0.5'/>", text, form.box);
    }
    for (uint32_t i = 0; i < count; i++)
        text = formatted("%s</body>", text);
    return load_text(context, formatted("%s</body></worldbody></mujoco>", text));
}

// A motion that moves docked modules as one tree.
static inline mf_ArticulatedConfig module_motion(bool contacts) {
    return WITH(mf_motions_config().articulated, .contacts = contacts, .self_contacts = false,
                .contact_law = MF_CONTACT_LAW_COMPLIANT);
}

// By themselves contacts would be as stiff as a robot is heavy.
static inline mf_ArticulatedConfig stiff_motion(bool contacts) {
    return WITH(module_motion(contacts), .contact_stiffness = 2e4, .contact_damping = 100.0);
}

static inline mf_WorldDocks *add_docks(Pitch *pitch) {
    mf_WorldDocks *docks;
    MUST(mf_world_docks_add(pitch->world, NULL, &docks, &error));
    return docks;
}

// Docks the back of one module to the front of another, as they are, or where that one is.
static inline void dock_to(mf_WorldDocks *docks, mf_Group *first, uint32_t i, mf_Group *second,
                           uint32_t k) {
    MUST(mf_docks_connect(docks, &(mf_DockPort){first, i, FRONT}, &(mf_DockPort){second, k, BACK},
                          0, &error));
}

static inline void mate(mf_WorldDocks *docks, mf_Group *first, uint32_t i, mf_Group *second,
                        uint32_t k) {
    double position[3], orientation[4];
    MUST(mf_docks_mating_pose(docks, &(mf_DockPort){first, i, FRONT},
                              &(mf_DockPort){second, k, BACK}, 0, position, orientation, &error));
    set_fields(second, "base.position", k, 3, position);
    set_fields(second, "base.orientation", k, 4, orientation);
}
