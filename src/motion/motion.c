// Names of the motions, which of them a model can move by, and groups that move by several.
#include "motion/table.h"
#include "base/floats.h"
#include "base/hash.h"
#include "motion/articulated/actuator/commands.h"
#include "world/attach.h"
#include "world/systems.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *const own_names[] = {"own",   "own2",  "own3",  "own4",  "own5",  "own6",
                                        "own7",  "own8",  "own9",  "own10", "own11", "own12",
                                        "own13", "own14", "own15", "own16"};
enum { OWN_COUNT = MF_MOTION_OWN_LAST - MF_MOTION_OWN + 1 };
_Static_assert((int)MF_MOTION_COUNT <= (int)MF_MOTION_OWN, "motions of plugins come after ours");
_Static_assert(sizeof own_names / sizeof *own_names == OWN_COUNT, "a name for each own motion");

const char *mf_motion_limitation(mf_Motion motion) {
    const mf_MotionRow *row = mf_motion_row(motion);
    return row != NULL && row->limitation != NULL ? row->limitation : "";
}

const char *mf_motion_name(mf_Motion motion) {
    unsigned number = (unsigned)motion;
    if (number < MF_MOTION_COUNT)
        return mf_motion_row(motion)->name;
    if (number >= MF_MOTION_OWN && number <= MF_MOTION_OWN_LAST)
        return own_names[number - MF_MOTION_OWN];
    return "unknown";
}

bool mf_motion_find(const char *name, mf_Motion *out) {
    if (name == NULL)
        return false;
    for (int i = 0; i <= MF_MOTION_OWN_LAST; i++)
        if ((i < MF_MOTION_COUNT || i >= MF_MOTION_OWN) &&
            strcmp(name, mf_motion_name((mf_Motion)i)) == 0) {
            *out = (mf_Motion)i;
            return true;
        }
    return false;
}

// "points, rigid and articulated"; "none".
static void list_motions(char *text, size_t size, const bool has[MF_MOTION_COUNT]) {
    uint32_t left = 0;
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        left += has[i];
    snprintf(text, size, "%s", left == 0 ? "none" : "");
    for (int i = 0; i < MF_MOTION_COUNT; i++) {
        size_t used = strlen(text);
        if (has[i])
            snprintf(text + used, size - used, "%s%s", mf_motion_name((mf_Motion)i),
                     --left == 0 ? ""
                     : left == 1 ? " and "
                                 : ", ");
    }
}

// ---- requirements on models ---------------------------------------------------------------------

// Adds the motion to a group of one robot that nobody sees: what the motion itself refuses, and
// only that, is what the model cannot do.
static mf_Status try_motion(const mf_Model *model, mf_Motion motion, mf_Error *error) {
    const mf_MotionRow *row = mf_motion_row(motion);
    mf_MotionsConfig config = mf_motions_config();
    mf_WorldConfig settings = mf_world_config();
    mf_GroupConfig robots = mf_group_config();
    mf_World *world;
    mf_Group *group;
    settings.step = MF_MILLISECOND;
    settings.isa = MF_ISA_SCALAR;
    robots.model = model;
    MF_CHECK(row != NULL, error, MF_UNSUPPORTED, "%u is not a motion", (unsigned)motion);
    MF_TRY(mf_world_create(model->context, &settings, &world, error));
    mf_Status status = mf_world_add_group(world, &robots, &group, error);
    MF_THEN(status, mf_motion_join(group, row, &config, error));
    mf_world_destroy(world);
    return status;
}

mf_Status mf_motion_check(const mf_Model *model, mf_Motion motion, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(model != NULL, error, "mf_motion_check: model is NULL");
    mf_Error reason = {0};
    bool can[MF_MOTION_COUNT] = {false};
    char list[96];
    mf_Status status = try_motion(model, motion, &reason);
    if (status == MF_OK)
        return MF_OK;
    for (int i = 0; i < MF_MOTION_COUNT && status != MF_NO_MEMORY; i++) {
        mf_Error other = {0};
        if (i == MF_MOTION_EXTERNAL) // anything can be moved by hand
            continue;
        mf_Status tried = try_motion(model, (mf_Motion)i, &other);
        can[i] = tried == MF_OK;
        if (tried == MF_NO_MEMORY) // says nothing about the model
            return mf_fail(error, tried, "%s", other.message);
    }
    if (status == MF_NO_MEMORY)
        return mf_fail(error, status, "%s", reason.message);
    list_motions(list, sizeof list, can);
    return mf_fail(error, MF_UNSUPPORTED, "%.380s; supported motions: %s", reason.message, list);
}

// ---- groups -------------------------------------------------------------------------------------

mf_MotionsConfig mf_motions_config(void) {
    mf_MotionsConfig config = {.struct_size = sizeof config, .start = MF_MOTION_ARTICULATED};
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        mf_motion_row((mf_Motion)i)->defaults(&config);
    return config;
}

// The member at the position that a row names; 0: there is none.
static void put_member(mf_MotionsConfig *config, size_t index, const void *value, size_t size) {
    if (index != 0)
        memcpy((char *)config + index, value, size);
}

void mf_motions_set_shapes(mf_MotionsConfig *config, bool shapes) {
    for (int i = 0; config != NULL && i < MF_MOTION_COUNT; i++)
        put_member(config, mf_motion_row((mf_Motion)i)->common.shapes, &shapes, sizeof shapes);
}

void mf_motions_set_control(mf_MotionsConfig *config, mf_Time interval) {
    for (int i = 0; config != NULL && i < MF_MOTION_COUNT; i++)
        put_member(config, mf_motion_row((mf_Motion)i)->common.control, &interval, sizeof interval);
}

void mf_motions_set_contacts(mf_MotionsConfig *config, bool contacts) {
    for (int i = 0; config != NULL && i < MF_MOTION_COUNT; i++)
        put_member(config, mf_motion_row((mf_Motion)i)->common.contacts, &contacts,
                   sizeof contacts);
}

void mf_motions_set_limits(mf_MotionsConfig *config, bool limits) {
    for (int i = 0; config != NULL && i < MF_MOTION_COUNT; i++)
        put_member(config, mf_motion_row((mf_Motion)i)->common.limits, &limits, sizeof limits);
}

void mf_motions_set_friction(mf_MotionsConfig *config, double friction) {
    for (int i = 0; config != NULL && i < MF_MOTION_COUNT; i++)
        put_member(config, mf_motion_row((mf_Motion)i)->common.friction, &friction,
                   sizeof friction);
}

static const mf_FieldInfo level_field = MF_FIELD_INFO(
    "motion.level", "1", "", MF_U32, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
    "motion of each robot: 0 kinematic, 1 points, 2 rigid, 3 prescribed, 4 articulated, of trusses "
    "9 quasistatic, 10 elastic, from 16 on plugins");

typedef struct Motions {
    mf_Field *level;
    mf_Motion start;
} Motions;

// The motions themselves step the robots.
static void run_nothing(const mf_SystemRun *run, void *user) {
    (void)run;
    (void)user;
}

static void reset_level(mf_Group *group, uint32_t instance, void *user) {
    const Motions *motions = user;
    (void)group;
    mf_field_set(motions->level, instance, 0, (double)motions->start);
}

// `what` is in front of complaints.
static mf_Status check_config(const mf_Group *group, const mf_MotionsConfig *config,
                              const char *what, mf_Motion motion, mf_Error *error) {
    if (config == NULL || config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "motions: start from mf_motions_config()");
    if ((unsigned)motion >= MF_MOTION_COUNT && motion != MF_MOTION_OWN)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: %u is not a motion", what, (unsigned)motion);
    if (mf_motion_of(group, 0) != MF_MOTION_COUNT)
        return mf_fail(error, MF_BAD_ARGUMENT, "motions: group %s already has the motion %s",
                       mf_group_config_of(group)->name, mf_motion_name(mf_motion_of(group, 0)));
    return MF_OK;
}

mf_Status mf_motion_add(mf_Group *group, mf_Motion motion, const mf_MotionsConfig *config,
                        mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_motion_add: group is NULL");
    const mf_MotionsConfig settings = config != NULL ? *config : mf_motions_config();
    MF_TRY(check_config(group, &settings, "motion", motion, error));
    MF_NEED(motion != MF_MOTION_OWN, error, "motion: %u is not a motion", (unsigned)motion);
    return mf_motion_join(group, mf_motion_row(motion), &settings, error);
}

mf_Status mf_motion_model(mf_Context *context, mf_Motion motion, const mf_MotionsConfig *config,
                          const char *name, mf_Model **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(context != NULL && out != NULL, error, "mf_motion_model: context or out is NULL");
    *out = NULL;
    const mf_MotionRow *row = mf_motion_row(motion);
    MF_NEED(row != NULL && row->model != NULL, error, "mf_motion_model: %s has no model of its own",
            mf_motion_name(motion));
    const mf_MotionsConfig settings = config != NULL ? *config : mf_motions_config();
    return row->model(context, &settings, name, out, error);
}

static mf_Status add_system(mf_Group *group, const bool has[MF_MOTION_COUNT], mf_Motion start,
                            mf_Error *error) {
    static const char *const none[] = {NULL};
    mf_Context *context = mf_world_context(mf_group_world(group));
    Motions *motions = mf_allocate(context, 1, sizeof *motions);
    MF_NEED_MEMORY(motions != NULL, error, "motions");
    mf_SystemConfig system = mf_system_config();
    motions->start = start;
    mf_Status status = mf_attach_field(group, &level_field, 0, &motions->level, error);
    if (status == MF_OK) {
        system.name = "motions";
        system.phase = MF_PHASE_MOTION;
        system.run = run_nothing;
        system.reset = reset_level;
        system.destroy = mf_attach_release;
        system.user = motions;
        system.reads = none;
        system.writes = none;
        system.any_gravity = true; // as far as the motions do
        system.settings_hash = mf_hash_u32(MF_HASH_START, (uint32_t)start);
        for (int i = 0; i < MF_MOTION_LEVELS; i++)
            system.settings_hash = mf_hash_u32(system.settings_hash, has[i]);
        for (int i = MF_MOTION_LEVELS; i < MF_MOTION_COUNT; i++)
            if (has[i])
                system.settings_hash = mf_hash_u32(system.settings_hash, (uint32_t)i);
        status = mf_group_add_system(group, &system, error);
    }
    if (status != MF_OK)
        mf_release(context, motions);
    return status;
}

static bool is_alike(const mf_MotionRow *a, const mf_MotionRow *b) {
    return a->level == b->level && (a->body == b->body || (a->body != NULL && b->body != NULL &&
                                                           strcmp(a->body, b->body) == 0));
}

// Robots of links and joints switch among levels, bodies among their motions, both also to plugins.
static mf_Status check_switches(const mf_MotionsConfig *config, mf_Error *error) {
    const mf_MotionRow *start = mf_motion_row(config->start);
    if (start != NULL && !start->level && !start->switches)
        return mf_fail(error, MF_UNSUPPORTED,
                       "motions.start: robots cannot switch between %s and other motions; "
                       "mf_motion_add adds it alone",
                       start->name);
    for (int i = 0; i < MF_MOTION_COUNT; i++) {
        const mf_MotionRow *row = mf_motion_row((mf_Motion)i);
        if (!config->has[i] || (start == NULL && (row->level || row->switches)))
            continue;
        if (start == NULL || !is_alike(row, start))
            return mf_fail(error, MF_UNSUPPORTED, "motions: robots cannot switch from %s to %s",
                           mf_motion_name(config->start), row->name);
        start = row;
    }
    return MF_OK;
}

mf_Status mf_motions_add(mf_Group *group, const mf_MotionsConfig *config, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_Motion start = config != NULL ? config->start : MF_MOTION_COUNT;
    MF_TRY(check_config(group, config, "motions.start", start, error));
    MF_TRY(check_switches(config, error));
    bool has[MF_MOTION_COUNT];
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        has[i] = config->has[i] || config->start == (mf_Motion)i;
    MF_TRY(add_system(group, has, config->start, error));
    for (int i = 0; i < MF_MOTION_COUNT; i++) {
        if (has[i])
            MF_TRY(mf_motion_join(group, mf_motion_row((mf_Motion)i), config, error));
    }
    return MF_OK;
}

mf_Motion mf_motion_of(const mf_Group *group, uint32_t instance) {
    if (group == NULL || instance >= mf_group_count(group))
        return MF_MOTION_COUNT;
    const mf_Field *field = mf_group_find_field((mf_Group *)group, "motion.level");
    if (field != NULL)
        return (mf_Motion)mf_field_get(field, instance, 0);
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        if (mf_motion_in(group, (mf_Motion)i))
            return (mf_Motion)i;
    return mf_motion_in(group, MF_MOTION_OWN) ? MF_MOTION_OWN : MF_MOTION_COUNT;
}

bool mf_motion_in(const mf_Group *group, mf_Motion motion) {
    if (group == NULL)
        return false;
    const mf_MotionRow *row = mf_motion_row(motion);
    return row != NULL ? mf_motion_plan(group, row) != NULL : mf_motion_own(group, motion) != NULL;
}

mf_Status mf_motion_follows(const mf_Group *group, uint32_t joint, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (group == NULL || joint >= mf_group_model(group)->joint_count)
        return mf_fail(error, MF_BAD_ARGUMENT, "motion: no such group or joint");
    const mf_Joint *own = &mf_group_model(group)->joints[joint];
    if (mf_motion_in(group, MF_MOTION_ARTICULATED))
        return mf_art_follows(group, joint, error);
    if (own->type != MF_JOINT_HINGE && own->type != MF_JOINT_SLIDE)
        return mf_fail(error, MF_UNSUPPORTED, "joint %s is neither a hinge nor a slide", own->name);
    return MF_OK;
}

mf_Status mf_motion_missing(const mf_Group *group, mf_Motion motion, mf_Error *error) {
    bool has[MF_MOTION_COUNT];
    char list[96];
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        has[i] = mf_motion_in(group, (mf_Motion)i);
    list_motions(list, sizeof list, has);
    return mf_fail(error, MF_BAD_ARGUMENT, "group %s: does not have the motion %s; its motions: %s",
                   mf_group_config_of(group)->name, mf_motion_name(motion), list);
}

// ---- momentum and energy ------------------------------------------------------------------------

void mf_motion_momentum(const mf_Group *group, uint32_t instance, double center[3],
                        double linear[3], double angular[3]) {
    if (group == NULL || instance >= mf_group_count(group))
        return;
    const mf_Motion motion = mf_motion_of(group, instance);
    const mf_MotionRow *row = mf_motion_row(motion);
    if (row != NULL) {
        row->momentum(group, mf_motion_plan(group, row), instance, center, linear, angular);
        return;
    }
    assert(mf_motion_in(group, motion));
    const mf_Field *position = mf_group_find_field((mf_Group *)group, "base.position");
    for (uint32_t c = 0; c < 3; c++) {
        center[c] = mf_field_get(position, instance, c);
        linear[c] = angular[c] = 0.0;
    }
}

mf_MotionEnergy mf_motion_energy(const mf_Group *group, uint32_t instance) {
    if (group == NULL || instance >= mf_group_count(group))
        return (mf_MotionEnergy){0};
    const mf_MotionRow *row = mf_motion_row(mf_motion_of(group, instance));
    return row != NULL ? row->energy(group, mf_motion_plan(group, row), instance)
                       : (mf_MotionEnergy){0};
}

// ---- ground -------------------------------------------------------------------------------------
