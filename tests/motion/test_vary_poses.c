// Robots of one group that differ in numbers, as they are answered and seen: poses of links,
// equations of motion, rays, distances, contacts, sensors, cameras and films are those of robots of
// edited files.
#include "rig/rig.h"
#include "model/fields.h"

#include <mayfly/camera.h>
#include <mayfly/dynamics.h>
#include <mayfly/film.h>
#include <mayfly/links.h>
#include <mayfly/model_fields.h>
#include <mayfly/query.h>
#include <mayfly/sensor.h>

enum { ROBOTS = 5, LINKS = 3, DOFS = 8 };

// An arm of two hinges on a free box; robot 0 is the group's model.
static mf_Model *load_arm(mf_Context *context, uint32_t robot) {
    char text[4096];
    const double x = robot;
    snprintf(text, sizeof text,
             "<mujoco model='arm'><compiler angle='radian'/><worldbody>"
             "<geom type='plane' size='0 0 1'/>"
             "<body name='trunk' pos='0 0 0.3'><freejoint/>"
             "<inertial pos='%.17g 0 0' mass='%.17g' diaginertia='0.02 0.06 0.07'/>"
             "<geom name='box' type='box' size='%.17g 0.1 0.05' rgba='0.9 0.2 0.1 1'/>"
             "<camera name='eye' pos='0 -1.2 0.3' xyaxes='1 0 0 0 0.2 1' output='rgb depth'/>"
             "<body name='upper' pos='%.17g 0 0.05' quat='1 %.17g 0 0'>"
             "<joint name='shoulder' axis='0 1 0' armature='%.17g'/>"
             "<inertial pos='0 0 0.1' mass='0.5' diaginertia='0.002 0.002 0.0005'/>"
             "<geom type='capsule' size='0.03' fromto='0 0 0 0 0 %.17g'/>"
             "<body name='lower' pos='0 0 %.17g'><joint name='elbow' axis='0 1 0'/>"
             "<inertial pos='0 0 0.1' mass='%.17g' diaginertia='0.001 0.001 0.0002'/>"
             "<geom name='ball' type='sphere' size='%.17g' pos='0.01 0 0.2'/>"
             "<site name='tip' pos='0 0 0.2'/></body></body></body></worldbody>"
             "<sensor><framepos objtype='site' objname='tip'/>"
             "<velocimeter site='tip'/></sensor></mujoco>",
             0.01 * x, 2.0 + 0.5 * x, 0.2 + 0.02 * x, 0.1 - 0.01 * x, 0.05 + 0.02 * x,
             0.01 + 0.002 * x, 0.2 + 0.03 * x, 0.2 + 0.03 * x, 0.2 + 0.1 * x, 0.04 + 0.01 * x);
    return load_text(context, text);
}

typedef struct Arms {
    mf_World *world;
    mf_Group *group;
} Arms;

static Arms open_arms(mf_Context *context, const mf_Model *model, uint32_t count, mf_Isa isa,
                      bool wide) {
    mf_MotionsConfig motions = mf_motions_config();
    Arms arms = {.world = open_world(context, &WITH(mf_world_config(), .isa = isa))};
    arms.group = add_group(arms.world, &WITH(mf_group_config(), .model = model, .count = count,
                                             .double_precision = wide));
    motions.articulated.self_contacts = false;
    MUST(mf_motion_add(arms.group, MF_MOTION_ARTICULATED, &motions, &error));
    MUST(mf_group_derive_links(arms.group, &error));
    MUST(mf_sensors_add(arms.group, NULL, &error));
    MUST(mf_cameras_add(arms.world, &error));
    return arms;
}

static void pose(mf_Group *group, uint32_t instance, uint32_t robot) {
    double q[7 + 2] = {0.1, 0.2, 0.5, 0.9, 0.1, -0.2, 0.3, 0.4, -0.7}, v[DOFS];
    for (int i = 0; i < DOFS; i++)
        v[i] = 0.3 * sin(1.0 + i + robot);
    q[7] += 0.1 * robot;
    mf_group_set_state(group, instance, q, v);
}

// The numbers of robots 1 .. as changes of fields of robot 0's model, whatever differs.
static void vary_by_fields(mf_Group *group, const mf_Model *const *models) {
    static double values[64][ROBOTS * 6];
    static const struct {
        mf_ItemType item;
        const char *field;
        uint32_t count;
    } fields[] = {{MF_ITEM_LINK, "mass", 1},      {MF_ITEM_LINK, "center", 3},
                  {MF_ITEM_JOINT, "position", 3}, {MF_ITEM_JOINT, "rotation", 4},
                  {MF_ITEM_JOINT, "armature", 1}, {MF_ITEM_SHAPE, "size", 3},
                  {MF_ITEM_SHAPE, "position", 3}};
    mf_ModelChange changes[64];
    uint32_t count = 0, instances[ROBOTS];
    for (uint32_t i = 0; i < ROBOTS; i++)
        instances[i] = i;
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        uint32_t items = 0;
        mf_model_items(models[0], fields[f].item, &items);
        for (uint32_t k = 0; k < items; k++, count++) {
            for (uint32_t i = 0; i < ROBOTS; i++) {
                const char *data = mf_model_items(models[i], fields[f].item, &items);
                memcpy(values[count] + (size_t)i * fields[f].count,
                       data + k * mf_item_table(fields[f].item)->size +
                           mf_item_field(fields[f].item, fields[f].field)->offset,
                       fields[f].count * sizeof(double));
            }
            changes[count] = (mf_ModelChange){fields[f].item,  fields[f].field, k, 0,
                                              fields[f].count, values[count]};
        }
    }
    MUST(mf_group_vary(group, instances, ROBOTS, NULL, changes, count, &error));
}

typedef struct Rig {
    mf_Context *context;
    mf_Model *models[ROBOTS];
    Arms together, alone[ROBOTS];
} Rig;

static Rig open_rig(mf_Isa isa, bool wide, bool by_models) {
    Rig rig = {.context = open_context(2)};
    uint32_t instances[ROBOTS];
    const mf_Model *models[ROBOTS];
    for (uint32_t i = 0; i < ROBOTS; i++) {
        models[i] = rig.models[i] = load_arm(rig.context, i);
        rig.alone[i] = open_arms(rig.context, rig.models[i], 1, isa, wide);
        instances[i] = i;
    }
    rig.together = open_arms(rig.context, rig.models[0], ROBOTS, isa, wide);
    if (by_models)
        MUST(mf_group_vary(rig.together.group, instances, ROBOTS, models, NULL, 0, &error));
    else
        vary_by_fields(rig.together.group, models);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        pose(rig.together.group, i, i);
        pose(rig.alone[i].group, 0, i);
    }
    return rig;
}

static void close_rig(Rig *rig) {
    mf_world_destroy(rig->together.world);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        mf_world_destroy(rig->alone[i].world);
        mf_model_destroy(rig->models[i]);
    }
    mf_context_destroy(rig->context);
}

static double most_apart(const double *a, const double *b, size_t count) {
    double most = 0.0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, isfinite(a[i]) ? fabs(a[i] - b[i]) : 1e30);
    return most;
}

typedef struct Answers {
    double poses[7 * LINKS], velocities[6 * LINKS], jacobian[6 * DOFS], mass[DOFS * DOFS],
        bias[DOFS], inverse[DOFS], forward[DOFS];
} Answers;

static void ask(mf_Group *group, uint32_t first, uint32_t count, Answers *out) {
    static double positions[ROBOTS * 3 * LINKS], rotations[ROBOTS * 4 * LINKS],
        velocities[ROBOTS * 6 * LINKS], jacobian[ROBOTS * 6 * DOFS], mass[ROBOTS * DOFS * DOFS],
        bias[ROBOTS * DOFS], inverse[ROBOTS * DOFS], forward[ROBOTS * DOFS], in[ROBOTS * DOFS];
    const double point[3] = {0.01, 0.02, 0.2};
    for (uint32_t i = 0; i < count * DOFS; i++)
        in[i] = 0.5 + 0.1 * (i % DOFS);
    MUST(mf_group_link_poses(group, first, count, positions, rotations, &error));
    MUST(mf_group_link_velocities(group, first, count, velocities, &error));
    MUST(mf_group_jacobian(group, first, count, 2, point, jacobian, &error));
    MUST(mf_group_mass_matrix(group, first, count, mass, &error));
    MUST(mf_group_bias(group, first, count, bias, &error));
    MUST(mf_group_inverse_dynamics(group, first, count, in, inverse, &error));
    MUST(mf_group_forward_dynamics(group, first, count, in, forward, &error));
    for (uint32_t i = 0; i < count; i++) {
        memcpy(out[i].poses, positions + (size_t)i * 3 * LINKS, 3 * LINKS * sizeof(double));
        memcpy(out[i].poses + 3 * LINKS, rotations + (size_t)i * 4 * LINKS,
               4 * LINKS * sizeof(double));
        memcpy(out[i].velocities, velocities + (size_t)i * 6 * LINKS, sizeof out[i].velocities);
        memcpy(out[i].jacobian, jacobian + (size_t)i * 6 * DOFS, sizeof out[i].jacobian);
        memcpy(out[i].mass, mass + (size_t)i * DOFS * DOFS, sizeof out[i].mass);
        memcpy(out[i].bias, bias + (size_t)i * DOFS, sizeof out[i].bias);
        memcpy(out[i].inverse, inverse + (size_t)i * DOFS, sizeof out[i].inverse);
        memcpy(out[i].forward, forward + (size_t)i * DOFS, sizeof out[i].forward);
    }
}

static void compare_answers(bool by_models, mf_Isa isa) {
    static Answers together[ROBOTS], one, alone;
    Rig rig = open_rig(isa, true, by_models);
    ask(rig.together.group, 0, ROBOTS, together);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        ask(rig.together.group, i, 1, &one); // by the copy for one lane
        ask(rig.alone[i].group, 0, 1, &alone);
        const double *a = together[i].poses, *b = one.poses, *c = alone.poses;
        const size_t all = sizeof alone / sizeof(double);
        assert_true(most_apart(a, b, all) < 1e-14);
        assert_true(most_apart(a, c, all) < 1e-11);
        assert_true(i == 0 || most_apart(a, together[0].poses, all) > 0.1);
    }
    close_rig(&rig);
}

TEST(equations_of_motion_are_each_robots_own) {
    static const mf_Isa isas[] = {MF_ISA_SCALAR, MF_ISA_AVX2, MF_ISA_AVX512};
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        for (int by_models = 0; by_models < 2 && mf_isa_available(isas[i]); by_models++)
            compare_answers(by_models, isas[i]);
}

static double fields_apart(mf_Group *a, uint32_t i, mf_Group *b, const char *name) {
    const mf_Field *x = mf_group_find_field(a, name), *y = mf_group_find_field(b, name);
    double most = 0.0;
    for (uint32_t c = 0; c < x->components; c++)
        most = fmax(most, fabs(mf_field_get(x, i, c) - mf_field_get(y, 0, c)));
    return most;
}

TEST(derived_fields_sensors_and_pictures_are_each_robots_own) {
    for (int wide = 0; wide < 2; wide++)
        for (int by_models = 0; by_models < 2; by_models++) {
            Rig rig = open_rig(MF_ISA_AUTO, wide, by_models);
            const double little = wide ? 1e-9 : 3e-5;
            (void)little;
            mf_world_step(rig.together.world, 40); // until the next picture
            for (uint32_t i = 0; i < ROBOTS; i++) {
                mf_Group *alone = rig.alone[i].group;
                mf_world_step(rig.alone[i].world, 40);
                assert_true(fields_apart(rig.together.group, i, alone, "link.pose") < little);
                assert_true(fields_apart(rig.together.group, i, alone, "link.velocity") <
                            100 * little);
                assert_true(fields_apart(rig.together.group, i, alone, "sensor.value") <
                            100 * little);
                // At edges a rounding decides what a pixel sees.
                const mf_Field *mine = mf_group_find_field(rig.together.group, "camera.eye.depth"),
                               *its = mf_group_find_field(alone, "camera.eye.depth");
                uint32_t others = 0, first = 0;
                for (uint32_t p = 0; p < mine->components; p++) {
                    const double depth = mf_field_get(its, 0, p);
                    others += fabs(mf_field_get(mine, i, p) - depth) > 1e-4;
                    first += fabs(mf_field_get(mine, 0, p) - depth) > 1e-4;
                }
                assert_true(others <= 8);
                assert_true(i == 0 || first > 1000);
            }
            close_rig(&rig);
        }
}

TEST(rays_and_distances_are_each_robots_own) {
    Rig rig = open_rig(MF_ISA_AUTO, true, false);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        const double above[3] = {0.1, 0.2, 3.0};
        mf_RayConfig ray = mf_ray_config();
        memcpy(ray.start, above, sizeof above);
        ray.ground = false;
        ray.alone = rig.together.group;
        ray.alone_instance = i;
        mf_RayHit mine, its;
        MUST(mf_world_ray(rig.together.world, &ray, &mine, &error));
        ray.alone = rig.alone[i].group;
        ray.alone_instance = 0;
        MUST(mf_world_ray(rig.alone[i].world, &ray, &its, &error));
        assert_true(mine.hit && its.hit && mine.owner.shape == its.owner.shape);
        assert_near(mine.distance, its.distance, 1e-12);
        mf_DistanceConfig between = mf_distance_config();
        between.a = (mf_DistanceBody){rig.together.group, i, 0};
        between.b = (mf_DistanceBody){rig.together.group, i, 2};
        mf_Distance own, edited;
        MUST(mf_world_distance(rig.together.world, &between, &own, &error));
        between.a = (mf_DistanceBody){rig.alone[i].group, 0, 0};
        between.b = (mf_DistanceBody){rig.alone[i].group, 0, 2};
        MUST(mf_world_distance(rig.alone[i].world, &between, &edited, &error));
        assert_true(own.found && edited.found);
        assert_near(own.distance, edited.distance, 1e-12);
    }
    close_rig(&rig);
}

TEST(contacts_lie_on_each_robots_own_shapes) {
    Rig rig = open_rig(MF_ISA_AUTO, true, true);
    mf_world_step(rig.together.world, 400); // they have fallen
    static mf_Contact mine[256], its[64];
    uint32_t count = 0, of_all = 0;
    MUST(mf_world_contacts(rig.together.world, mine, 256, &of_all, &error));
    for (uint32_t i = 0; i < ROBOTS; i++) {
        mf_world_step(rig.alone[i].world, 400);
        MUST(mf_world_contacts(rig.alone[i].world, its, 64, &count, &error));
        assert_true(count > 0);
        uint32_t seen = 0;
        for (uint32_t k = 0; k < of_all; k++) {
            if (mine[k].owners[0].instance != i)
                continue;
            assert_true(most_apart(mine[k].point, its[seen].point, 3) < 1e-6);
            seen++;
        }
        assert_int_equal(seen, count);
    }
    close_rig(&rig);
}

static char *film_of(mf_World *world) {
    static const char path[] = "film_vary.html";
    mf_Film *film;
    MUST(mf_film_create_world(world, "arms", NULL, 0.01, &film, &error));
    mf_film_sample(film);
    MUST(mf_film_write(film, path, &error));
    mf_film_destroy(film);
    char *page = file_get(path, NULL);
    unlink(path);
    return page;
}

// The shapes and masses of a cast, up to its meshes or what it shares.
static char *looks_of(const char *page, uint32_t cast) {
    const char *at = strstr(page, "\"casts\":[");
    for (uint32_t i = 0; at != NULL && i <= cast; i++)
        at = strstr(at + 1, "\"shapes\":[");
    assert_non_null(at);
    const char *end = strstr(at, "\"cameras\":[");
    assert_non_null(end);
    return strndup(at, (size_t)(end - at));
}

TEST(films_show_each_robots_own_shapes) {
    Rig rig = open_rig(MF_ISA_AUTO, true, false);
    char *all = film_of(rig.together.world);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        char *page = film_of(rig.alone[i].world);
        char *mine = looks_of(all, i), *its = looks_of(page, 0);
        assert_string_equal(mine, its);
        free(mine);
        free(its);
        free(page);
    }
    free(all);
    close_rig(&rig);
}

TEST(robots_of_a_snapshot_have_their_own_poses) {
    static Answers before[ROBOTS], after[ROBOTS];
    Rig rig = open_rig(MF_ISA_AUTO, true, false);
    mf_Group *group = rig.together.group;
    const size_t size = mf_world_snapshot_size(rig.together.world);
    void *image = malloc(size);
    MUST(mf_world_snapshot(rig.together.world, image, size, &error));
    ask(group, 0, ROBOTS, before);
    for (uint32_t i = 0; i < ROBOTS; i++)
        MUST(mf_group_vary(group, &i, 1, NULL, NULL, 0, &error));
    ask(group, 0, ROBOTS, after);
    assert_true(most_apart(before[3].mass, after[3].mass, DOFS * DOFS) > 0.1);
    MUST(mf_world_restore(rig.together.world, image, size, &error));
    ask(group, 0, ROBOTS, after);
    assert_true(memcmp(before, after, sizeof before) == 0);
    free(image);
    close_rig(&rig);
}
