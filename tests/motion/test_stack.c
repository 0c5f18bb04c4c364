// Stack use of a step: every motion steps in a thread with a stack of 64 kB and a guard page, and
// gives the same bits as on a large stack. The stack is filled with a pattern before; what the step
// overwrote is its depth.
#include "motion/rig.h"
#include "motion/vehicle/car/motion.h"
#include "motion/vehicle/fixed_wing/motion.h"
#include "motion/vehicle/quadrotor/motion.h"
#include "solve/collisions.h"

#include <pthread.h>
#include <sys/mman.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || !defined(__OPTIMIZE__)
enum { LARGE_FRAMES = 1 }; // unoptimized, or room between the locals: only bits are compared
#else
enum { LARGE_FRAMES = 0 };
#endif

enum {
    KILOBYTE = 1024,
    SMALL = (LARGE_FRAMES ? 1024 : 64) * KILOBYTE, // [byte] of the thread
    MOST = 34 * KILOBYTE,                          // [byte] of a motion's step
    MOST_TOGETHER = 50 * KILOBYTE,                 // [byte] with contacts between robots
    GUARD = 16 * KILOBYTE,
    PAINT = 0xa5,
    ROBOTS = 40,
    HEAP = 2, // robots whose contacts are solved together: a heap of forty takes a minute
    STEPS = 20
};

typedef struct Case {
    const char *file; // in models/; NULL: the vehicle's body
    mf_Motion motion;
    mf_ArticulatedIntegrator integrator;
    mf_ContactLaw law;
    bool floats, collide;
    mf_CollisionLaw between; // robots
    uint32_t threads;
} Case;

typedef struct Scene {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
} Scene;

static mf_Model *model_of(mf_Context *context, const Case *from, mf_MotionsConfig *motions) {
    char path[512];
    mf_Model *model = NULL;
    if (from->file != NULL) {
        snprintf(path, sizeof path, "%s/models/%s", MAYFLY_SOURCE_DIR, from->file);
        MUST(mf_model_load(context, path, NULL, &model, &error));
    } else if (from->motion == MF_MOTION_CAR) {
        MUST(mf_car_body(context, &motions->car, "body", &model, &error));
    } else if (from->motion == MF_MOTION_QUADROTOR) {
        MUST(mf_quadrotor_model(context, &motions->quadrotor, "body", &model, &error));
    } else {
        MUST(mf_fixed_wing_model(context, &motions->fixed_wing, "fixed_wing", &model, &error));
    }
    return model;
}

static Scene scene_open(const Case *from) {
    Scene scene = {.context = open_context(from->threads)};
    mf_Group *group;
    mf_GroupConfig config = mf_group_config();
    mf_MotionsConfig motions =
        WITH(mf_motions_config(), .articulated.integrator = from->integrator,
             .articulated.contact_law = from->law, .articulated.self_contacts = from->file != NULL);
    mf_motions_set_shapes(&motions, from->file != NULL);
    scene.model = model_of(scene.context, from, &motions);
    config.model = scene.model;
    config.count = from->between == MF_COLLISION_EXPLICIT ? ROBOTS : HEAP;
    config.double_precision = !from->floats;
    config.isolated = !from->collide;
    scene.world = open_world(scene.context, &WITH(mf_world_config(), .step = MF_MILLISECOND));
    group = add_group(scene.world, &config);
    if (from->between != MF_COLLISION_EXPLICIT)
        MUST(mf_collisions_prepare(group, &error));
    MUST(mf_motion_add(group, from->motion, &motions, &error));
    if (scene.model->sensor_count > 0)
        MUST(mf_sensors_add(group, NULL, &error));
    if (from->collide) {
        mf_Collisions *collisions;
        MUST(mf_collisions_add(scene.world, &WITH(mf_collisions_config(), .law = from->between),
                               &collisions, &error));
    }
    return scene;
}

static void scene_close(Scene *scene) {
    mf_world_destroy(scene->world);
    mf_model_destroy(scene->model);
    mf_context_destroy(scene->context);
}

static void *step_world(void *world) {
    mf_world_step(world, STEPS);
    return NULL;
}

// A thread with a stack of SMALL bytes above a page that faults. Returns how many it used.
static size_t step_on_small_stack(mf_World *world) {
    unsigned char *memory =
        mmap(NULL, GUARD + SMALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory, GUARD, PROT_NONE), 0);
    memset(memory + GUARD, PAINT, SMALL);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, memory + GUARD, SMALL), 0);
    assert_int_equal(pthread_create(&thread, &attributes, step_world, world), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    size_t left = 0;
    while (left < SMALL && memory[GUARD + left] == PAINT)
        left++;
    munmap(memory, GUARD + SMALL);
    return SMALL - left;
}

static void check_case(const Case *from) {
    Scene large = scene_open(from), small = scene_open(from);
    mf_world_step(large.world, STEPS);
    const size_t used = step_on_small_stack(small.world);
    print_message("%-14s %-12s %s%s%s %zu kB\n", from->file != NULL ? from->file : "",
                  mf_motion_name(from->motion), from->floats ? "float" : "double",
                  from->collide ? " together, " : "",
                  from->collide ? mf_collision_law_name(from->between) : "",
                  (used + KILOBYTE - 1) / KILOBYTE);
    assert_true(mf_world_hash(large.world) == mf_world_hash(small.world));
    if (!LARGE_FRAMES)
        assert_true(used <= (from->collide ? MOST_TOGETHER : MOST));
    scene_close(&large);
    scene_close(&small);
}

// ---- the worlds ---------------------------------------------------------------------------------

static void check_all(const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        Case one = cases[i];
        one.threads = 1;
        check_case(&one);
        one.floats = true;
        check_case(&one);
    }
}

TEST(robots_step) {
    static const Case cases[] = {{.file = "humanoid.urdf",
                                  .motion = MF_MOTION_ARTICULATED,
                                  .integrator = MF_ARTICULATED_IMPLICIT,
                                  .law = MF_CONTACT_LAW_COMPLIANT},
                                 {.file = "humanoid.urdf",
                                  .motion = MF_MOTION_ARTICULATED,
                                  .integrator = MF_ARTICULATED_IMPLICIT,
                                  .law = MF_CONTACT_LAW_HARD},
                                 {.file = "humanoid.urdf",
                                  .motion = MF_MOTION_ARTICULATED,
                                  .integrator = MF_ARTICULATED_RK4,
                                  .law = MF_CONTACT_LAW_COMPLIANT},
                                 {.file = "figure.xml",
                                  .motion = MF_MOTION_ARTICULATED,
                                  .integrator = MF_ARTICULATED_IMPLICIT,
                                  .law = MF_CONTACT_LAW_MUJOCO},
                                 {.file = "figure.xml",
                                  .motion = MF_MOTION_ARTICULATED,
                                  .integrator = MF_ARTICULATED_RK4,
                                  .law = MF_CONTACT_LAW_MUJOCO},
                                 {.file = "stack.xml",
                                  .motion = MF_MOTION_ARTICULATED,
                                  .integrator = MF_ARTICULATED_IMPLICIT,
                                  .law = MF_CONTACT_LAW_COMPLIANT},
                                 {.file = "stack.xml",
                                  .motion = MF_MOTION_ARTICULATED,
                                  .integrator = MF_ARTICULATED_IMPLICIT,
                                  .law = MF_CONTACT_LAW_MUJOCO},
                                 {.file = "ant.xml",
                                  .motion = MF_MOTION_ARTICULATED,
                                  .integrator = MF_ARTICULATED_IMPLICIT,
                                  .law = MF_CONTACT_LAW_MUJOCO},
                                 {.file = "humanoid.urdf", .motion = MF_MOTION_RIGID},
                                 {.file = "humanoid.urdf", .motion = MF_MOTION_PRESCRIBED},
                                 {.file = "humanoid.urdf", .motion = MF_MOTION_KINEMATIC},
                                 {.file = "hexapod.urdf", .motion = MF_MOTION_POINTS}};
    check_all(cases, sizeof cases / sizeof *cases);
}

TEST(vehicles_step) {
    static const Case cases[] = {{.motion = MF_MOTION_CAR},
                                 {.motion = MF_MOTION_QUADROTOR},
                                 {.motion = MF_MOTION_FIXED_WING}};
    check_all(cases, sizeof cases / sizeof *cases);
}

// All robots of a group begin at one position, so all of them touch.
TEST(robots_collide) {
    static const Case cases[] = {
        {.file = "figure.xml", .motion = MF_MOTION_ARTICULATED, .collide = true},
        {.file = "car.urdf", .motion = MF_MOTION_RIGID, .collide = true},
        {.file = "figure.xml",
         .motion = MF_MOTION_ARTICULATED,
         .collide = true,
         .between = MF_COLLISION_HARD},
        {.file = "car.urdf",
         .motion = MF_MOTION_RIGID,
         .collide = true,
         .between = MF_COLLISION_COMPLIANT}};
    check_all(cases, sizeof cases / sizeof *cases);
}

// The workers of a context come and go through the same scratch.
TEST(threads_share) {
    check_case(&(Case){.file = "humanoid.urdf", .motion = MF_MOTION_ARTICULATED, .threads = 3});
}
