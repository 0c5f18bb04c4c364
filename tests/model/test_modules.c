// The modular robots of models/modules: what they consist of, that they are to scale, and their
// inertias against integrals over their shapes.
#include "model/modules.h"

GROUP_FIXTURE(setup_context, teardown_context);

static const struct {
    const char *name;
    uint32_t links, joints, docks, solids;
    double mass;    // [kg]
    double size[3]; // [m]
} modules[] = {
    {"superbot", 4, 3, 6, 10, 0.5, {0.168, 0.084, 0.084}},
    {"superbot_simple", 4, 3, 6, 10, 0.5, {0.168, 0.084, 0.084}},
    {"atron", 2, 1, 8, 2, 0.85, {0.110, 0.110, 0.1089}},
    {"atron_simple", 2, 1, 8, 4, 0.85, {0.110, 0.110, 0.080}},
    {"wheelbot", 5, 4, 3, 5, 1.0, {0.200, 0.124, 0.084}},
    {"cube", 3, 2, 6, 4, 0.42, {0.130, 0.065, 0.065}},
    {"long_dock", 1, 0, 2, 3, 0.15, {0.168, 0.084, 0.084}},
    {"gripper", 3, 2, 1, 3, 0.19, {0.080, 0.084, 0.084}},
    {"base", 1, 0, 1, 2, 8.0, {0.300, 0.300, 0.084}},
};
enum { MODULES = sizeof modules / sizeof *modules };

TEST(they_are_complete_and_to_scale) {
    for (int m = 0; m < MODULES; m++) {
        AUTO(close_module) Module module = open_module(*state, modules[m].name);
        const mf_Model *model = module.model;
        assert_string_equal(model->name, modules[m].name);
        assert_int_equal(model->link_count, modules[m].links);
        assert_int_equal(model->joint_count, modules[m].joints);
        assert_int_equal(module.model->dock_count, modules[m].docks);
        assert_int_equal(module.solid_count, modules[m].solids);
        assert_near(model->mass, modules[m].mass, 1e-12);
        double low[3], high[3];
        bounds(&module, MF_NONE, low, high);
        for (int k = 0; k < 3; k++)
            assert_near(high[k] - low[k], modules[m].size[k], 1e-4);
    }
}

// Nothing that the importer repaired, reduced or guessed.
TEST(nothing_is_changed_on_import) {
    for (int m = 0; m < MODULES; m++) {
        AUTO(close_module) Module module = open_module(*state, modules[m].name);
        for (uint32_t i = 0; i < module.model->note_count; i++)
            fail_msg("%s: %s", modules[m].name, module.model->notes[i].text);
    }
}

TEST(every_joint_has_a_motor_friction_and_limits) {
    for (int m = 0; m < MODULES; m++) {
        AUTO(close_module) Module module = open_module(*state, modules[m].name);
        for (uint32_t i = 0; i < module.model->joint_count; i++) {
            const mf_Joint *joint = &module.model->joints[i];
            assert_true(isfinite(joint->speed) && isfinite(joint->effort));
            assert_true(joint->damping > 0.0 && joint->friction > 0.0);
            // An error of 0.1 rad or 10 mm gives the full effort; it is lost at full speed.
            double error = joint->type == MF_JOINT_SLIDE ? 0.01 : 0.1;
            assert_near(joint->servo.gain * error / joint->effort, 1.0, 0.01);
            assert_near(joint->servo.damping * joint->speed / joint->effort, 1.0, 0.01);
            assert_true(joint->servo.rotor_inertia > 0.0);
        }
    }
}

TEST(superbots_bend_by_90_and_roll_by_135_degrees) {
    static const char *const names[] = {"superbot", "superbot_simple"};
    static const char *const joints[] = {"pitch", "roll", "yaw"};
    static const double degrees[] = {90.0, 135.0, 90.0};
    for (int m = 0; m < 2; m++) {
        AUTO(close_module) Module module = open_module(*state, names[m]);
        for (int j = 0; j < 3; j++) {
            const mf_Joint *joint = joint_named(module.model, joints[j]);
            assert_near(joint->upper, degrees[j] * MF_PI / 180.0, 1e-12);
            assert_near(joint->lower, -joint->upper, 0.0);
        }
    }
}

TEST(wheels_and_atrons_turn_without_end) {
    static const char *const names[] = {"atron", "atron_simple", "wheelbot"};
    for (int m = 0; m < 3; m++) {
        AUTO(close_module) Module module = open_module(*state, names[m]);
        for (uint32_t i = 0; i < module.model->joint_count; i++) {
            assert_true(module.model->joints[i].lower == -INFINITY);
            assert_true(module.model->joints[i].upper == INFINITY);
        }
    }
}

// The detail of ReMod3D: 8 convex meshes and 2 boxes with 624 points, and 2 with 552. Each point is
// a corner of the convex hull.
TEST(meshes_have_the_published_detail) {
    static const struct {
        const char *name;
        uint32_t meshes, boxes, points;
    } detail[] = {{"superbot", 8, 2, 624}, {"atron", 2, 0, 552}};
    for (int m = 0; m < 2; m++) {
        AUTO(close_module) Module module = open_module(*state, detail[m].name);
        uint32_t meshes = 0, boxes = 0, points = 0;
        for (uint32_t i = 0; i < module.solid_count; i++) {
            const mf_Shape *shape = module.solids[i].shape;
            boxes += shape->type == MF_SHAPE_BOX;
            if (shape->type != MF_SHAPE_MESH)
                continue;
            const mf_Mesh *mesh = &module.model->meshes[shape->mesh];
            meshes++;
            points += mesh->vertex_count;
            assert_int_equal(mesh->hull_vertex_count, mesh->vertex_count);
        }
        assert_int_equal(meshes, detail[m].meshes);
        assert_int_equal(boxes, detail[m].boxes);
        assert_int_equal(points, detail[m].points);
    }
}

// ---- inertias ----------------------------------------------------------------------------------

// Volume, center and second moments per volume of a link's solids in the base frame, as a sum over
// the middles of cubes, whose corners are at multiples of `edge` as the flat faces are.
static void integrate(const Module *module, uint32_t link, double edge, double center[3],
                      double spread[3]) {
    double low[3], high[3], sum[3] = {0}, square[3] = {0}, count = 0.0;
    bounds(module, link, low, high);
    for (int k = 0; k < 3; k++)
        low[k] = edge * floor(low[k] / edge + 1e-6);
    double point[3];
    for (uint32_t i = 0; grid_point(low, high, edge, i, point); i++) {
        if (!(depth_in(module, link, point) > 0.0))
            continue;
        count += 1.0;
        for (int k = 0; k < 3; k++)
            sum[k] += point[k], square[k] += point[k] * point[k];
    }
    for (int k = 0; k < 3; k++) {
        center[k] = sum[k] / count;
        spread[k] = square[k] / count - center[k] * center[k] + edge * edge / 12.0;
    }
}

// Every link whose solids touch anything is of uniform density. All start poses are without
// rotation, so the axes of the base are those of the links.
TEST(inertias_are_those_of_uniform_solids) {
    static const struct {
        const char *name;
        double edge; // [m]
    } cases[] = {{"superbot", 5e-4}, {"atron", 1e-3},     {"wheelbot", 1e-3}, {"cube", 5e-4},
                 {"gripper", 1e-3},  {"long_dock", 1e-3}, {"base", 2e-3}};
    // Integrals are sums of this file, so under sanitizers a cube and a base are enough.
    for (size_t m = SANITIZED ? 3 : 0; m < sizeof cases / sizeof *cases; m += SANITIZED ? 3 : 1) {
        AUTO(close_module) Module module = open_module(*state, cases[m].name);
        for (uint32_t l = 0; l < module.model->link_count; l++) {
            const mf_Link *link = &module.model->links[l];
            double center[3], spread[3];
            if (strcmp(link->name, "strut") == 0)
                continue;
            integrate(&module, l, cases[m].edge, center, spread);
            for (int k = 0; k < 3; k++) {
                int a = (k + 1) % 3, b = (k + 2) % 3;
                assert_near(link->center[k] + module.link_position[l][k], center[k], 1e-4);
                assert_near(link->inertia[k] / (link->mass * (spread[a] + spread[b])), 1.0, 0.01);
                assert_near(link->inertia[3 + k], 0.0, 0.0);
            }
        }
    }
}

TEST(simple_robots_weigh_and_dock_as_the_detailed_ones) {
    static const char *const names[][2] = {{"superbot", "superbot_simple"},
                                           {"atron", "atron_simple"}};
    for (int m = 0; m < 2; m++) {
        AUTO(close_module)
        Module full = open_module(*state, names[m][0]), simple = open_module(*state, names[m][1]);
        for (uint32_t l = 0; l < full.model->link_count; l++) {
            const mf_Link *a = &full.model->links[l], *b = &simple.model->links[l];
            assert_string_equal(a->name, b->name);
            assert_near(a->mass, b->mass, 0.0);
            assert_memory_equal(a->center, b->center, sizeof a->center);
            assert_memory_equal(a->inertia, b->inertia, sizeof a->inertia);
        }
        for (uint32_t j = 0; j < full.model->joint_count; j++)
            assert_memory_equal(&full.model->joints[j].servo, &simple.model->joints[j].servo,
                                sizeof(mf_Servo));
        assert_int_equal(full.model->dock_count, simple.model->dock_count);
        for (uint32_t d = 0; d < full.model->dock_count; d++) {
            const mf_Dock *a = &full.model->docks[d], *b = &simple.model->docks[d];
            assert_string_equal(a->name, b->name);
            assert_string_equal(a->type, b->type);
            assert_int_equal(a->gender, b->gender);
            assert_int_equal(a->orientations, b->orientations);
            assert_int_equal(a->frame.link, b->frame.link);
            assert_memory_equal(a->frame.position, b->frame.position, sizeof a->frame.position);
            assert_memory_equal(a->frame.rotation, b->frame.rotation, sizeof a->frame.rotation);
        }
    }
}
