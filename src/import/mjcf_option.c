// Compiler settings, simulation options, and the sections of an MJCF file that have no effect on
// motion. Sections of one kind may occur several times; later values win.
#include "import/mjcf_rows.h"
#include "model/draft.h"

#include "math/scalar.h"

#include <math.h>
#include <string.h>

// ---- sections ----------------------------------------------------------------------------------

mf_Status mf_mjcf_read_sections(mf_Mjcf *m) {
    static const char *const known[] = {
        "compiler", "option",   "size",      "visual",    "statistic",  "default",
        "custom",   "asset",    "contact",   "equality",  "tendon",     "actuator",
        "sensor",   "keyframe", "worldbody", "extension", "deformable", NULL};
    static const char *const passed[] = {"visual", "statistic", "size", "custom", NULL};
    static const mf_MjcfField fields[] = {PASSED("model"), END};
    const mf_XmlNode *root = m->xml.root;
    if (strcmp(root->name, "mujoco") != 0)
        return mf_mjcf_fail(m, root, "expected an MJCF <mujoco>, found <%.80s>", root->name);
    MF_TRY(mf_mjcf_read(m, root, fields, NULL));
    MF_TRY(mf_mjcf_only(m, root, known));
    for (const mf_XmlNode *node = root->first; node; node = node->next) {
        if (mf_name_listed(passed, node->name))
            MF_TRY(mf_mjcf_pass(m, node, NULL));
        // Declarations of an extension have an effect where they are used.
        if (strcmp(node->name, "deformable") == 0 && node->first != NULL)
            MF_TRY(mf_mjcf_refuse(m, node, NULL));
    }
    return MF_OK;
}

// ---- compiler ----------------------------------------------------------------------------------

typedef struct Compiler {
    int32_t coordinate, angle, inertia_from_geom;
    bool autolimits, balance, discard_visual, fit_box, strip_path, align_free;
    double bound_mass, bound_inertia, total_mass, groups[2];
    const char *eulerseq, *meshdir, *texturedir, *assetdir;
} Compiler;

static const char *const coordinates[] = {"local", "global", NULL};
static const char *const angles[] = {"degree", "radian", NULL};

#define T Compiler
static const mf_MjcfField compiler_fields[] = {
    CHOICE("coordinate", coordinate, coordinates),
    CHOICE("angle", angle, angles),
    CHOICE("inertiafromgeom", inertia_from_geom, mf_mjcf_tristate),
    FLAG("autolimits", autolimits),
    FLAG("balanceinertia", balance),
    FLAG("discardvisual", discard_visual),
    FLAG("fitaabb", fit_box),
    FLAG("strippath", strip_path),
    FLAG("alignfree", align_free),
    NUMBER("boundmass", bound_mass),
    NUMBER("boundinertia", bound_inertia),
    NUMBER("settotalmass", total_mass),
    NUMBERS("inertiagrouprange", 2, 2, groups),
    TEXT("eulerseq", eulerseq),
    TEXT("meshdir", meshdir),
    TEXT("assetdir", assetdir),
    TEXT("texturedir", texturedir),
    PASSED("usethread fusestatic"),                               // links are merged anyway
    PASSED("saveinertial exactmeshinertia conflict passthrough"), // how MuJoCo writes files
    PASSED("savecanonical savecompiled"),
    END};

#undef T

// <lengthrange>: muscles that would need it are refused (mjcf_actuator.c), others have no use of
// it.
static mf_Status note_lengthrange(mf_Mjcf *m, const mf_XmlNode *node) {
    static const char *const known[] = {"lengthrange", NULL};
    MF_TRY(mf_mjcf_only(m, node, known));
    for (const mf_XmlNode *child = node->first; child; child = child->next)
        MF_TRY(mf_mjcf_pass(m, child, NULL));
    return MF_OK;
}

static mf_Status read_compiler(mf_Mjcf *m, const mf_XmlNode *node, Compiler *c) {
    c->assetdir = NULL;
    const char *meshdir = c->meshdir;
    c->meshdir = NULL;
    const char *texturedir = c->texturedir;
    c->texturedir = NULL;
    MF_TRY(mf_mjcf_read(m, node, compiler_fields, c));
    c->meshdir = c->meshdir ? c->meshdir : c->assetdir ? c->assetdir : meshdir;
    c->texturedir = c->texturedir ? c->texturedir : c->assetdir ? c->assetdir : texturedir;
    if (c->coordinate == 1)
        return mf_mjcf_fail(
            m, node,
            "<compiler> coordinate: global coordinates are not supported any more, expected local");
    if (strlen(c->eulerseq) != 3 || strspn(c->eulerseq, "xyzXYZ") != 3)
        return mf_mjcf_fail(
            m, node, "<compiler> eulerseq: expected three of xyzXYZ, found \"%.40s\"", c->eulerseq);
    if (c->strip_path || c->align_free)
        return mf_mjcf_refuse(m, node, c->strip_path ? "strippath" : "alignfree");
    if (!(c->bound_mass >= 0.0) || !(c->bound_inertia >= 0.0))
        return mf_mjcf_fail(m, node,
                            "<compiler>: boundmass and boundinertia must be >= 0, found %g and %g",
                            c->bound_mass, c->bound_inertia);
    return MF_OK;
}

static mf_Status read_all(mf_Mjcf *m, const mf_XmlNode *root, Compiler *c) {
    *c = (Compiler){.autolimits = true,
                    .inertia_from_geom = MF_MJCF_AUTO,
                    .total_mass = -1.0,
                    .groups = {0.0, 5.0},
                    .eulerseq = "xyz"};
    MF_XML_EACH (node, root, "compiler")
        MF_TRY(read_compiler(m, node, c));
    return MF_OK;
}

static void keep_settings(const Compiler *c, mf_MjcfSettings *settings) {
    settings->radians = c->angle == 1;
    settings->autolimits = c->autolimits;
    settings->eulerseq = c->eulerseq;
    settings->mesh_folder = c->meshdir;
    settings->texture_folder = c->texturedir;
}

mf_Status mf_mjcf_read_settings(mf_Mjcf *m, const mf_XmlNode *root, mf_MjcfSettings *settings) {
    Compiler c;
    MF_TRY(read_all(m, root, &c));
    keep_settings(&c, settings);
    return MF_OK;
}

static mf_Status read_compilers(mf_Mjcf *m) {
    Compiler c;
    MF_TRY(read_all(m, m->xml.root, &c));
    MF_XML_EACH (node, m->xml.root, "compiler")
        MF_TRY(note_lengthrange(m, node));
    keep_settings(&c, &m->settings);
    m->inertia_from_geom = c.inertia_from_geom;
    m->balance_inertia = c.balance;
    m->discard_visual = c.discard_visual;
    m->fit_box = c.fit_box;
    m->bound_mass = c.bound_mass;
    m->bound_inertia = c.bound_inertia;
    m->total_mass = c.total_mass;
    for (int i = 0; i < 2; i++)
        m->inertia_groups[i] = (int32_t)mf_clamp(c.groups[i], -1e6, 1e6);
    return MF_OK;
}

// ---- option ------------------------------------------------------------------------------------

enum { NEWTON = 2 };        // of solvers
#define MOST_ITERATIONS 1e6 // [1]

enum { MOST_SWEEPS = 10000 }; // of the noslip solver, per step

typedef struct Option {
    mf_Physics physics;
    int32_t solver, noslip_iterations;
    double iterations;
    const char *disabled_groups;
} Option;

static const char *const solvers[] = {"PGS", "CG", "Newton", NULL};

#define T Option
static const mf_MjcfField option_fields[] = {
    MF_MJCF_ROW("", PLAIN, MF_ITEM_PHYSICS, 0, physics, NULL),
    INTEGER("noslip_iterations", noslip_iterations), CHOICE("solver", solver, solvers),
    NUMBER("iterations", iterations),
    // Settings of MuJoCo's solver and collision detection: Mayfly has its own.
    NOTED("ls_tolerance ls_iterations ccd_tolerance ccd_iterations mpr_tolerance mpr_iterations "
          "sdf_iterations sdf_initpoints sleep_tolerance collision"),
    PASSED("apirate jacobian"), // its storage
    // A list of groups: "0", too, switches actuators off.
    TEXT("actuatorgroupdisable", disabled_groups), END};

static mf_Status read_flags(mf_Mjcf *m, const mf_XmlNode *node, mf_Physics *physics) {
    // The order of the MF_DISABLE_ bits.
    static const char *const names[] = {
        "constraint", "equality", "frictionloss", "limit",     "contact",
        "spring",     "damper",   "gravity",      "clampctrl", "filterparent",
        "actuation",  "refsafe",  "sensor",       "eulerdamp", NULL};
    static const char *const passed[] = {"midphase", "autoreset", "island",      "energy",
                                         "fwdinv",   "warmstart", "invdiscrete", NULL};
    // Off unless a file enables them, and then without effect here.
    static const char *const noted[] = {"multiccd", "sleep",       "diagexact", "sensornoise",
                                        "ipc",      "speculative", NULL};
    for (uint32_t i = 0; i < node->attribute_count; i++) {
        const mf_XmlAttribute *flag = &node->attributes[i];
        bool enable = strcmp(flag->value, "enable") == 0, found = false;
        if (!enable && strcmp(flag->value, "disable") != 0)
            return mf_mjcf_fail(m, node,
                                "<flag> %.80s: expected enable or disable, found \"%.60s\"",
                                flag->name, flag->value);
        for (uint32_t bit = 0; names[bit]; bit++) {
            if (strcmp(flag->name, names[bit]) != 0)
                continue;
            found = true;
            physics->disabled &= ~(1u << bit);
            physics->disabled |= enable ? 0u : 1u << bit;
        }
        if (strcmp(flag->name, "passive") == 0) { // the older name of both flags
            found = true;
            uint32_t both = MF_DISABLE_SPRING | MF_DISABLE_DAMPER;
            physics->disabled = (physics->disabled & ~both) | (enable ? 0u : both);
        }
        if (strcmp(flag->name, "override") == 0) {
            found = true;
            physics->override_contacts = enable;
        }
        found = found || mf_name_listed(passed, flag->name);
        bool is_noted = mf_name_listed(noted, flag->name),
             is_own = strcmp(flag->name, "nativeccd") == 0;
        // Mayfly's own detection of contacts is always on.
        MF_TRY((is_noted && enable) || (is_own && !enable) ? mf_mjcf_pass(m, node, flag->name)
               : is_noted || is_own || found               ? MF_OK
                                                           : mf_mjcf_refuse(m, node, flag->name));
    }
    return MF_OK;
}

static mf_Status check_option(const mf_Mjcf *m, const mf_XmlNode *node, const mf_Physics *p) {
    if (!(p->step > 0.0))
        return mf_mjcf_fail(m, node, "<option> timestep: expected > 0, found %g", p->step);
    if (!(p->density >= 0.0) || !(p->viscosity >= 0.0))
        return mf_mjcf_fail(m, node,
                            "<option>: density and viscosity must be >= 0, found %g and %g",
                            p->density, p->viscosity);
    if (!(p->noslip_tolerance >= 0.0) || p->noslip_iterations > MOST_SWEEPS)
        return mf_mjcf_fail(
            m, node,
            "<option>: expected noslip_tolerance >= 0 and noslip_iterations <= %d, found %g and %u",
            MOST_SWEEPS, p->noslip_tolerance, p->noslip_iterations);
    if (!(p->friction_impedance_ratio > 0.0))
        return mf_mjcf_fail(m, node, "<option> impratio: expected > 0, found %g",
                            p->friction_impedance_ratio);
    return MF_OK;
}

static mf_Status check_solver(const mf_Mjcf *m, const mf_XmlNode *node, const Option *option) {
    if (!(option->iterations >= 0.0) || option->iterations > floor(option->iterations))
        return mf_mjcf_fail(m, node, "<option> iterations: expected a whole number >= 0, found %g",
                            option->iterations);
    if (!(option->physics.solver_tolerance >= 0.0))
        return mf_mjcf_fail(m, node, "<option> tolerance: expected >= 0, found %g",
                            option->physics.solver_tolerance);
    return MF_OK;
}

mf_Status mf_mjcf_read_options(mf_Mjcf *m) {
    static const char *const known[] = {"flag", NULL};
    Option option = {.physics = mf_physics(), .solver = NEWTON, .iterations = 100.0};
    MF_TRY(read_compilers(m));
    MF_XML_EACH (node, m->xml.root, "option") {
        MF_TRY(mf_mjcf_read(m, node, option_fields, &option));
        MF_TRY(mf_mjcf_only(m, node, known));
        MF_XML_EACH (flag, node, "flag")
            MF_TRY(read_flags(m, flag, &option.physics));
        option.physics.noslip_iterations =
            option.noslip_iterations > 0 ? (uint32_t)option.noslip_iterations : 0;
        MF_TRY(check_option(m, node, &option.physics));
        if (option.disabled_groups != NULL &&
            option.disabled_groups[strspn(option.disabled_groups, " \t\r\n")] != '\0')
            MF_TRY(mf_mjcf_refuse(m, node, "actuatorgroupdisable"));
        MF_TRY(check_solver(m, node, &option));
        // Both solvers have the same minimum; only their termination differs.
        if (option.solver != NEWTON && mf_xml_attribute(node, "solver") != NULL)
            MF_TRY(mf_mjcf_pass(m, node, "solver (Newton's method iterates to convergence)"));
    }
    // Iteration settings of other methods do not apply to Newton's.
    if (option.solver == NEWTON)
        option.physics.solver_iterations =
            (uint32_t)mf_clamp(option.iterations, 0.0, MOST_ITERATIONS);
    else
        option.physics.solver_tolerance = mf_physics().solver_tolerance;
    m->draft.physics = option.physics;
    return MF_OK;
}
