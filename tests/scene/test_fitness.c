// Fitness functions against closed forms: speed, tilt and distance of free flight without gravity,
// and the work of servos in free space, which equals the gain of energy. Scenes with every motion.
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

// A scene of the hexapod: keys of its group, then those of the scene.
static mf_SceneFile *parse(mf_Context *context, const char *group, const char *more) {
    return parse_scene(context,
                       formatted("groups:\n  - name: a\n    model: ../models/hexapod.urdf\n"
                                 "    contact: {shapes: false, self: false}\n%s%s",
                                 group, more));
}

// Free flight of the last of 20 robots for 2 s, at 0.5 m/s along x and 0.2 m/s along y, turned
// about z by `yaw`, then about its own x by `roll`.
static double fly(mf_Context *context, const char *fitness, const char *motion, double yaw,
                  double roll) {
    char group[900];
    snprintf(group, sizeof group,
             "    motion: %s\n    precision: double\n    initial:\n"
             "    - {property: base.position, values: [0, 0, 3]}\n"
             "    - {property: base.linear_velocity, values: [0.5, 0.2, 0]}\n"
             "    - {property: base.orientation, values: [%.17g, %.17g, %.17g, %.17g]}\n",
             motion, cos(yaw / 2) * cos(roll / 2), cos(yaw / 2) * sin(roll / 2),
             sin(yaw / 2) * sin(roll / 2), sin(yaw / 2) * cos(roll / 2));
    const char *more = formatted(
        "search: {fitness: %s}\nworld: {gravity: 0, step: 0.01}\nrun: {duration: 2}\n", fitness);
    AUTO_WHOLE_SCENE scene = make_evaluation(context, parse(context, group, more), 20);
    mf_world_step(scene.world, 200);
    double value = mf_scene_fitness(&scene, 19);
    return value;
}

TEST(free_flight_has_the_speed_and_tilt_that_it_started_with) {
    static const char *const motions[] = {"points", "rigid", "prescribed", "articulated"};
    const double distance = 2.0 * sqrt(0.29);
    for (size_t i = 0; i < 4; i++) {
        for (double yaw = -2.5; yaw < 3.0; yaw += 1.3) {
            double along = 0.5 * cos(yaw) + 0.2 * sin(yaw);
            assert_near(fly(*state, "distance", motions[i], yaw, 0.4), distance, 1e-6);
            assert_near(fly(*state, "speed", motions[i], yaw, 0.4), along, 1e-6);
        }
        assert_near(fly(*state, "upright", motions[i], 0.3, 0.7), distance * cos(0.7), 1e-6);
        assert_near(fly(*state, "upright", motions[i], 0.3, 2.0), 0.0, 1e-9); // on its back
    }
}

// Sums and means begin when the robot has settled.
TEST(settling_counts_for_nothing) {
    AUTO_WHOLE_SCENE scene = make_evaluation(
        *state,
        parse(*state,
              "    motion: rigid\n    precision: double\n    settle: 1\n    initial:\n"
              "    - {property: base.position, values: [0, 0, 3]}\n"
              "    - {property: base.linear_velocity, values: [0.5, 0, 0]}\n",
              "search: {fitness: speed}\nworld: {gravity: 0, step: 0.01}\nrun: {duration: 2}\n"),
        2);
    mf_world_step(scene.world, mf_scene_steps(&scene));
    assert_near(mf_scene_distance(&scene, 1), 1.0, 1e-9);
    assert_near(mf_scene_fitness(&scene, 1), 0.5, 1e-9);
}

// In free space, from rest, what servos put in is the kinetic energy, as long as each of them only
// drives. The sum is of first order in the step: half the step, half the difference.
TEST(servos_put_in_what_the_robot_gains) {
    double wrong[2];
    for (int i = 0; i < 2; i++) {
        static const char group[] =
            "    motion: articulated\n    controller: {oscillator: {tick: 1}}\n"
            "    precision: double\n"
            "    initial: [{property: base.position, values: [0, 0, 3]}]\n";
        AUTO_WHOLE_SCENE scene =
            make_evaluation(*state,
                            parse(*state, group,
                                  formatted("search: {fitness: economy}\nworld: {gravity: 0, step: "
                                            "%s}\nrun: {duration: 1}\n",
                                            i == 0 ? "0.00002" : "0.00001")),
                            17);
        for (uint32_t j = 0; j < scene.model->joint_count; j++)
            set_field(scene.group, "oscillator.offset", 16, j,
                      0.3); // all legs alike: none is turned by the others
        mf_world_step(scene.world, i == 0 ? 100 : 200); // 2 ms
        double work = get_field(scene.group, "fitness.work", 16, 0);
        double energy = mf_motion_energy(scene.group, 16).kinetic;
        assert_true(energy > 1e-3);
        wrong[i] = work / energy - 1.0;
        // The fitness is the distance by it and the lift by one meter on Earth.
        double distance = mf_scene_distance(&scene, 16);
        assert_near(mf_scene_fitness(&scene, 16), distance / (work + scene.model->mass * 9.80665),
                    1e-15);
    }
    assert_true(fabs(wrong[0]) < 0.02);
    assert_near(wrong[1], 0.5 * wrong[0], 0.1 * fabs(wrong[0]));
}

// A robot that stands has all feet down all the time, one in free flight has them up: neither
// steps, wherever it drifts. One foot lifted by hand for a part of the time counts by that part.
TEST(feet_that_step_count) {
    AUTO_WHOLE_SCENE scene = make_evaluation(
        *state,
        parse(*state, "    motion: articulated\n",
              "search: {fitness: steps}\nworld: {step: 0.01}\nrun: {duration: 4}\n"),
        2);
    mf_world_step(scene.world, 400);
    mf_Field *stance = mf_group_find_field(scene.group, "fitness.stance");
    assert_int_equal(stance->components, 6);
    for (uint32_t foot = 0; foot < 6; foot++)
        assert_near(mf_field_get(stance, 1, foot), 4.0, 0.2); // from where it lands on
    set_field(scene.group, "base.position", 1, 0, 3.0);
    static const double duty[6] = {0.0, 0.075, 0.15, 0.5, 0.97, 1.0};
    for (uint32_t foot = 0; foot < 6; foot++)
        mf_field_set(stance, 1, foot, 4.0 * duty[foot]);
    double distance = mf_scene_distance(&scene, 1);
    assert_near(mf_scene_fitness(&scene, 1), distance * (0.5 + 1.0 + 1.0 + 0.2) / 6.0, 1e-9);
}

TEST(economy_needs_torques) {
    AUTO_SCENE_FILE *file = parse(*state, "    motion: rigid\n", "search: {fitness: economy}\n");
    mf_Scene scene;
    mf_Error error = {0};
    assert_fails(mf_scene_create(*state, file, NULL, &scene, &error), MF_UNSUPPORTED, &error,
                 "motion: articulated");
    assert_non_null(strstr(error.message, "rigid"));
    mf_scene_file_destroy(file);
    file = parse(*state, "    servo: {inputs: true}\n", "search: {fitness: economy}\n");
    assert_fails_as(mf_scene_create(*state, file, NULL, &scene, &error), MF_UNSUPPORTED, &error,
                    "fitness: economy does not know the gains of servo.inputs");
}

// At every motion: it is the one asked for, the file's step counts, robots move, and an evaluation
// gives the same bits again and alone, with every fitness.
TEST(every_motion_can_be_evaluated) {
    static const char *const fitnesses[] = {"distance", "speed", "upright", "steps", "economy"};
    enum { COUNT = 18 };
    for (int motion = 0; motion < MF_MOTION_LEVELS; motion++) {
        for (int f = 0; f < (motion == MF_MOTION_ARTICULATED ? 5 : 4); f++) {
            char group[200], more[200];
            snprintf(group, sizeof group,
                     "    motion: %s\n    controller: {gp: {angle_per_move: 0.2}}\n",
                     mf_motion_name((mf_Motion)motion));
            snprintf(more, sizeof more,
                     "search: {fitness: %s}\nworld: {step: 0.005}\nrun: {duration: 1.2}\n",
                     fitnesses[f]);
            AUTO_SCENE_FILE *file = parse(*state, group, more);
            assert_int_equal(file->groups[0].motion, motion);
            AUTO_SCENE scene = make_evaluation(*state, file, COUNT);
            AUTO_SCENE alone = make_evaluation(*state, file, 1);
            assert_int_equal(mf_motion_of(scene.group, 0), motion);
            assert_int_equal(mf_world_config_of(scene.world)->step, 5 * MF_MILLISECOND);
            uint8_t genomes[COUNT * MF_GP_BYTES];
            for (size_t i = 0; i < sizeof genomes; i++)
                genomes[i] = (uint8_t)(i * 89 + i / 7);
            double first[COUNT], again[COUNT], single;
            MUST(mf_scene_evaluate(&scene, genomes, COUNT, MF_GP_BYTES, first, &error));
            MUST(mf_scene_evaluate(&scene, genomes, COUNT, MF_GP_BYTES, again, &error));
            assert_memory_equal(first, again, sizeof first);
            double most = 0.0;
            for (int i = 0; i < COUNT; i++)
                most = fmax(most, fabs(first[i]));
            assert_true(most > 1e-4);
            MUST(mf_scene_evaluate(&alone, genomes + 17 * MF_GP_BYTES, 1, MF_GP_BYTES, &single,
                                   &error));
            assert_memory_equal(&single, &first[17], sizeof single);
        }
    }
}
