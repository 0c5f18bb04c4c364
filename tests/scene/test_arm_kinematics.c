// The arm of docked modules, which solves its inverse kinematics by messages (arm.c), against
// mf_inverse_kinematics for the same arm as one model without docks.
#include "scene/poses.h"
#include "model/points.h"

GROUP_FIXTURE(make_context, drop_context);

enum { MODULES = 4, JOINTS = 16, TARGETS = SANITIZED ? 1 : 5 };

static const double hold = 5.0; // [s]

// Those of the scene.
static const double targets[5][3] = {
    {0.4, 0.2, 0.4}, {0.1, 0.45, 0.5}, {-0.4, 0.1, 0.3}, {-0.1, -0.4, 0.6}, {0.35, -0.3, 0.2}};

// ---- the arm as one model -----------------------------------------------------------------------

// A joint of a module on the way from its back dock to its front dock.
typedef struct Step {
    uint32_t joint;
    bool down; // from the child to the parent
} Step;

static uint32_t depth_of(const mf_Model *model, uint32_t link) {
    uint32_t depth = 0;
    for (; link != 0; link = model->links[link].parent)
        depth++;
    return depth;
}

// The joints between two links: down from `from` to where both hang on, then up to `to`.
static uint32_t find_path(const mf_Model *model, uint32_t from, uint32_t to, Step *path) {
    uint32_t down = 0, up = 0, above[JOINTS];
    while (from != to) {
        if (depth_of(model, from) >= depth_of(model, to)) {
            path[down++] = (Step){model->links[from].joint, true};
            from = model->links[from].parent;
        } else {
            above[up++] = model->links[to].joint;
            to = model->links[to].parent;
        }
    }
    for (uint32_t i = 0; i < up; i++)
        path[down + i] = (Step){above[up - 1 - i], false};
    return down + up;
}

typedef struct Writer {
    char text[8192];
    size_t size;
    Pose frame; // of the module's present link in that of the last body
    uint32_t count;
    uint32_t joints[JOINTS], modules[JOINTS]; // per joint of the arm
} Writer;

static void put_text(Writer *writer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    writer->size += (size_t)vsnprintf(writer->text + writer->size,
                                      sizeof writer->text - writer->size, format, arguments);
    va_end(arguments);
    assert_true(writer->size < sizeof writer->text);
}

static void put_joint(Writer *writer, const mf_Model *module, uint32_t number, const Step *step) {
    const mf_Joint *joint = &module->joints[step->joint];
    const Pose own = pose_of(joint->position, joint->rotation);
    const double sign = step->down ? -1.0 : 1.0;
    if (!step->down)
        writer->frame = chain(&writer->frame, &own);
    const double *at = writer->frame.at, *rotation = writer->frame.turn;
    put_text(writer,
             "<body name='b%u' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'>"
             "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
             "<joint type='hinge' axis='%.17g %.17g %.17g' range='%.17g %.17g'/>",
             writer->count, at[0], at[1], at[2], rotation[0], rotation[1], rotation[2], rotation[3],
             sign * joint->axis[0], sign * joint->axis[1], sign * joint->axis[2], joint->lower,
             joint->upper);
    writer->frame = step->down ? inverse(&own) : origin;
    writer->joints[writer->count] = step->joint;
    writer->modules[writer->count] = number;
    writer->count++;
}

// From the base's dock through all modules; the tip is then at `frame` in the last body.
static void write_arm(Writer *writer, const mf_Model *base, const mf_Model *module) {
    const mf_Frame *top = dock_of(base, "top"), *back = dock_of(module, "back"),
                   *front = dock_of(module, "front");
    const Pose in = pose_of(back->position, back->rotation), to_link = inverse(&in),
               out = pose_of(front->position, front->rotation);
    Step path[JOINTS];
    const uint32_t count = find_path(module, back->link, front->link, path);
    *writer = (Writer){.frame = pose_of(top->position, top->rotation)};
    put_text(writer, "<mujoco><compiler angle='radian'/><worldbody><body><freejoint/>"
                     "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>");
    for (uint32_t n = 0; n < MODULES; n++) {
        writer->frame = chain(&writer->frame, &facing);
        writer->frame = chain(&writer->frame, &to_link);
        for (uint32_t i = 0; i < count; i++)
            put_joint(writer, module, n, &path[i]);
        writer->frame = chain(&writer->frame, &out);
    }
    for (uint32_t i = 0; i < writer->count; i++)
        put_text(writer, "</body>");
    put_text(writer, "</body></worldbody></mujoco>");
}

// ---- both ---------------------------------------------------------------------------------------

// Modules 0 to 2 are of the group `arm`, number 3 is alone in the group `part`.
static double angle_of(const mf_Scene *scene, uint32_t module, uint32_t joint) {
    return get(scene, module < 3 ? 1 : 2, "joint.angle", module < 3 ? module : 0, joint);
}

static void tip_of(const mf_Model *model, const mf_InverseKinematicsConfig *config,
                   const double *angle, double tip[3]) {
    double at[JOINTS][3], rotation[JOINTS][4];
    mf_model_pose(model, angle, at, rotation);
    mf_quat_rotate(tip, rotation[config->link], config->point);
    mf_vec3_add(tip, tip, at[config->link]);
}

static void check_limits(const mf_Model *model, const double *angle, double slack) {
    for (uint32_t j = 0; j < model->joint_count; j++) {
        assert_true(angle[j] >= model->joints[j].lower - slack);
        assert_true(angle[j] <= model->joints[j].upper + slack);
    }
}

// The function, from straight joints and from where the docked arm is.
static void check_function(mf_Context *context, const mf_Model *model,
                           const mf_InverseKinematicsConfig *config, const double *sampled,
                           const double target[3], const double docked[3]) {
    for (int from = 0; from < 2; from++) {
        mf_InverseKinematicsResult result;
        double angle[JOINTS] = {0}, tip[3];
        if (from == 1)
            memcpy(angle, sampled, sizeof angle);
        assert_int_equal(
            mf_inverse_kinematics(context, model, config, target, NULL, angle, &result, NULL),
            MF_OK);
        tip_of(model, config, angle, tip);
        check_limits(model, angle, 0.0);
        assert_true(result.reached);
        assert_true(distance3(tip, target) < 1e-4);
        assert_true(distance3(tip, docked) < 0.005);
    }
}

TEST(docked_arm_and_function_reach_the_same) {
    Writer writer;
    const mf_Override wait = {"groups.base.behavior.arm.wait", "5"};
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/arm.yaml", &wait, 1);
    write_arm(&writer, scene.models[0], scene.models[1]);
    AUTO_MODEL *model = load_text(*state, writer.text);
    assert_int_equal(model->joint_count, writer.count);
    assert_int_equal(writer.count, MODULES * scene.models[1]->joint_count);
    mf_InverseKinematicsConfig config = WITH(mf_inverse_kinematics_config(), .link = writer.count);
    memcpy(config.point, writer.frame.at, sizeof config.point);
    for (uint32_t n = 0; n < TARGETS; n++) {
        double sampled[JOINTS] = {0}, tip[3];
        while (get(&scene, 0, "arm.memory", 0, 2) < (n + 1) * hold - 0.02) // [s] of the root
            mf_world_step(scene.world, 1);
        for (uint32_t j = 0; j < writer.count; j++)
            sampled[j] = angle_of(&scene, writer.modules[j], writer.joints[j]);
        const Pose at = tip_pose(&scene, 2, 0);
        const double *docked = at.at;
        // The arm as one model is the docked arm: its docks hold within their play.
        tip_of(model, &config, sampled, tip);
        print_message("target %u: docked arm %.2g m away, its one model %.2g m from it\n", n,
                      distance3(docked, targets[n]), distance3(tip, docked));
        assert_true(distance3(tip, docked) < 0.001);
        assert_true(distance3(docked, targets[n]) < 0.005);
        check_limits(model, sampled, 1e-3); // stops are soft
        check_function(*state, model, &config, sampled, targets[n], docked);
    }
}

// Modules without joints lengthen the arm; only the one with the targets is its root.
TEST(extensions_are_links_of_the_arm) {
    const double aims[][3] = {
        {0.5, 0.3, 0.5}, {0.2, 0.5, 0.6}, {-0.6, 0.2, 0.5}, {-0.1, -0.5, 0.6}};
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/long_arm.yaml", NULL, 0);
    for (uint32_t n = 0; n < sizeof aims / sizeof *aims; n++) {
        while (get(&scene, 0, "arm.memory", 0, 2) < (n + 1) * 4.0 - 0.02)
            mf_world_step(scene.world, 1);
        const Pose tip = tip_pose(&scene, 1, 2);
        print_message("target %u: tip of the long arm %.2g m away\n", n,
                      distance3(tip.at, aims[n]));
        assert_true(distance3(tip.at, aims[n]) < 0.005);
    }
}

// The arm of three modules and two long docks as one model: its tip is where the docked one has it,
// and inverse kinematics finds angles for targets of its own tip.
TEST(an_assembly_has_kinematics) {
    enum { MOST = 9 };
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/long_arm.yaml", NULL, 0);
    const mf_WorldDocks *docks = mf_world_docks_of(scene.world);
    mf_Group *base = mf_world_group(scene.world, 0), *arm = mf_world_group(scene.world, 1);
    const mf_DockPort tip = {arm, 2, mf_model_find(scene.models[1], MF_ITEM_DOCK, "front")};
    mf_ChainJoint joints[MOST];
    mf_Frame end;
    double sampled[MOST], at[MOST + 1][3], rotation[MOST + 1][4];
    mf_world_step(scene.world, (uint64_t)(3.0 / mf_time_to_seconds(scene.step)));
    mf_Model *model;
    MUST(mf_docks_chain(docks, base, 0, &tip, joints, MOST, &model, &end, &error));
    assert_int_equal(model->joint_count, MOST);
    for (uint32_t j = 0; j < MOST; j++)
        sampled[j] = get_field(joints[j].group, "joint.angle", joints[j].instance, joints[j].joint);
    mf_model_pose(model, sampled, at, rotation);
    const Pose link = pose_of(at[end.link], rotation[end.link]),
               own = pose_of(end.position, end.rotation), found = chain(&link, &own),
               docked = tip_pose(&scene, 1, 2);
    double root[3], world[3];
    get_fields(base, "base.position", 0, 3, root);
    mf_vec3_add(world, root, found.at);
    print_message("tip of the docked arm %.2g m from that of its model\n",
                  distance3(world, docked.at));
    assert_true(distance3(world, docked.at) < 0.001);
    // Targets are tips of other angles.
    mf_InverseKinematicsConfig config = WITH(mf_inverse_kinematics_config(), .link = end.link);
    memcpy(config.point, end.position, sizeof config.point);
    for (int n = 0; n < 5; n++) {
        mf_InverseKinematicsResult result;
        double angle[MOST], goal[3];
        for (uint32_t j = 0; j < MOST; j++)
            angle[j] = 0.9 * sin(1.0 + 2.0 * n + j);
        tip_of(model, &config, angle, goal);
        memcpy(angle, sampled, sizeof angle);
        MUST(mf_inverse_kinematics(*state, model, &config, goal, NULL, angle, &result, &error));
        assert_true(result.reached && result.distance < 1e-4);
        check_limits(model, angle, 0.0);
    }
    mf_model_destroy(model);
    MUST_FAIL(mf_docks_chain(docks, base, 0, &tip, joints, 8, &model, &end, &error), MF_LIMIT,
              "more than 8 joints");
    MUST_FAIL(mf_docks_chain(docks, base, 1, &tip, joints, 8, &model, &end, &error),
              MF_BAD_ARGUMENT, "no such robot");
    MUST(mf_docks_disconnect(mf_world_docks_of(scene.world), &(mf_DockPort){base, 0, 0}, &error));
    MUST_FAIL(mf_docks_chain(docks, base, 0, &tip, joints, MOST, &model, &end, &error),
              MF_NOT_FOUND, "no docks connect");
}

TEST(targets_out_of_reach_are_noted) {
    static const char *const points[] = {"[[0.6, 0.3, 0.5]]", "[[0.6, 0.3, 0.6], [0.2, 0.7, 0.7]]"};
    for (int far = 0; far < 2; far++) { // 0.84 m long, from a dock at 0.084 m
        const mf_Override change = {"groups.base.behavior.arm.points", points[far]};
        AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/long_arm.yaml", &change, 1);
        bool noted = false;
        for (uint32_t i = 0; i < scene.note_count; i++)
            noted = noted || strstr(scene.notes[i], "arm: 2 of 2 targets are out of reach") != NULL;
        assert_true(noted == far);
    }
}
