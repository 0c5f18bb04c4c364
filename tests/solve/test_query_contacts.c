// The list of contacts: loads sum to weights, forces equal those of the fields, positions where
// shapes touch, order and capacity, and unknown values.
#include "solve/pitch.h"

enum { ROOM = 256 };

static uint32_t list(Pitch *pitch, mf_Contact *out) {
    uint32_t count;
    MUST(mf_world_contacts(pitch->world, out, ROOM, &count, &error));
    assert_true(count <= ROOM);
    return count;
}

static const char box_text[] =
    "<mujoco model='box'><worldbody><body pos='0 0 0.1'><freejoint/>"
    "<geom type='box' size='0.2 0.3 0.1' mass='2'/></body></worldbody></mujoco>";

// Four corners of a box bear its weight, whichever motion has it; forces are not known there.
TEST(a_box_stands_on_its_corners) {
    static const mf_Motion motions[] = {MF_MOTION_ARTICULATED, MF_MOTION_RIGID,
                                        MF_MOTION_PRESCRIBED};
    for (int k = 0; k < 3; k++) {
        mf_Contact contacts[ROOM];
        mf_MotionsConfig config = mf_motions_config();
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
        mf_Group *group = pitch_group(&pitch, load_text(pitch.context, box_text), "box", 3, true);
        mf_motions_set_shapes(&config, true);
        MUST(mf_motion_add(group, motions[k], &config, &error));
        for (uint32_t i = 0; i < 3; i++)
            put(&pitch, group, i, 2.0 * i, 0.0, i == 1 ? 3.0 : 0.1, 0.0);
        assert_int_equal(list(&pitch, contacts), 0);
        mf_world_step(pitch.world, 700);
        double load[3] = {0};
        assert_int_equal(list(&pitch, contacts), 8); // the second falls
        for (int c = 0; c < 8; c++) {
            const mf_Contact *contact = &contacts[c];
            const uint32_t i = contact->owners[0].instance;
            load[i] += contact->load;
            assert_int_equal(i, c < 4 ? 0 : 2);
            assert_ptr_equal(contact->owners[0].group, group);
            assert_int_equal(contact->owners[0].link + contact->owners[0].shape, 0);
            assert_null(contact->owners[1].group);
            assert_near(fabs(contact->point[0] - 2.0 * i), 0.2, 1e-3);
            assert_near(fabs(contact->point[1]), 0.3, 1e-3);
            assert_near(contact->normal[2], -1.0, 0.0);
            assert_near(contact->depth, -contact->point[2], 1e-12);
            assert_near(contact->depth, 0.002, 0.002);
            assert_true(isnan(contact->force[0]));
        }
        uint32_t link = 9, shape = 9;
        assert_true(mf_group_contact_owner(group, 3, &link, &shape));
        assert_int_equal(link + shape, 0);
        assert_false(mf_group_contact_owner(group, ROOM, &link, &shape));
        assert_near(load[0], 2 * 9.81, 0.01);
        assert_near(load[2], 2 * 9.81, 0.01);
        set_field(group, "fault.word", 0, 0, MF_FAULT_RANGE);
        assert_int_equal(list(&pitch, contacts), 4);
    }
}

TEST(points_and_feet_bear_the_weight) {
    for (int k = 0; k < 2; k++) {
        mf_Contact contacts[ROOM];
        mf_MotionsConfig config = mf_motions_config();
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 10 * MF_MILLISECOND, 9.81);
        mf_Model *model = load_file(pitch.context, "hexapod.urdf");
        mf_Group *group = pitch_group(&pitch, model, "robot", 1, true);
        const mf_Motion motion = k == 0 ? MF_MOTION_POINTS : MF_MOTION_KINEMATIC;
        MUST(mf_motion_add(group, motion, &config, &error));
        mf_group_reset_all(group);
        mf_world_step(pitch.world, 100);
        const uint32_t count = list(&pitch, contacts);
        double load = 0.0;
        assert_true(count >= 3);
        for (uint32_t i = 0; i < count; i++) {
            load += contacts[i].load;
            assert_near(contacts[i].point[2], 0.0, 0.01);
            assert_true(contacts[i].owners[0].link > 0);
        }
        assert_near(load, model->mass * 9.81, 0.02 * model->mass * 9.81);
    }
}

// A ball that rolls touches at its lowest point, and an ellipsoid that lies on its side there too.
TEST(round_things_touch_at_their_lowest_point) {
    static const char oval_text[] =
        "<mujoco model='oval'><worldbody><body pos='0 0 0.1'><freejoint/>"
        "<geom type='ellipsoid' size='0.2 0.3 0.1' mass='2'/></body></worldbody></mujoco>";
    mf_Contact contacts[ROOM];
    mf_ArticulatedConfig config = mf_motions_config().articulated;
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    config.shapes = true;
    mf_Group *ball = pitch_group(&pitch, ball_of(pitch.context, 1.0), "ball", 1, true);
    mf_Group *oval = pitch_group(&pitch, load_text(pitch.context, oval_text), "oval", 1, true);
    MUST(rig_add_articulated(ball, &config, &error));
    MUST(rig_add_articulated(oval, &config, &error));
    put(&pitch, ball, 0, 0.0, 0.0, 0.1, 2.0);
    put(&pitch, oval, 0, 0.0, 5.0, 0.1, 0.0);
    set_field(ball, "base.angular_velocity", 0, 1, 20.0);
    mf_world_step(pitch.world, 400);
    assert_int_equal(list(&pitch, contacts), 2);
    assert_near(contacts[0].point[0], get_field(ball, "base.position", 0, 0), 1e-9);
    assert_near(contacts[0].point[2], get_field(ball, "base.position", 0, 2) - 0.1, 1e-9);
    assert_near(contacts[0].load, 9.81, 0.01);
    assert_near(contacts[1].point[1], 5.0, 1e-3);
    assert_near(contacts[1].point[2], get_field(oval, "base.position", 0, 2) - 0.1, 1e-4);
    assert_near(contacts[1].load, 2 * 9.81, 0.05);
}

// Between balls the force is that of wrench.link, the point between them, the normal the centers'.
TEST(collisions_report_their_forces) {
    mf_Contact contacts[ROOM], again[ROOM];
    uint32_t seen = 0, count;
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
    mf_Group *second = pitch_bodies(&pitch, ball_of(pitch.context, 1.0), "second", 2, true);
    mf_Group *first = pitch_bodies(&pitch, ball_of(pitch.context, 2.0), "first", 2, true);
    for (uint32_t i = 0; i < 2; i++) {
        put(&pitch, first, i, -0.15, 2.0 * i, 5.0, 1.0);
        put(&pitch, second, i, 0.15, 2.0 * i + 0.05, 5.0, -1.0);
    }
    pitch_collide(&pitch, NULL);
    for (int step = 0; step < 100; step++) {
        double centers[2][3];
        for (uint32_t c = 0; c < 3; c++) {
            centers[0][c] = get_field(first, "base.position", 0, c);
            centers[1][c] = get_field(second, "base.position", 0, c);
        }
        mf_world_step(pitch.world, 1);
        count = list(&pitch, contacts);
        assert_int_equal(count, get_field(first, "wrench.count", 0, 0) +
                                    get_field(first, "wrench.count", 1, 0));
        for (uint32_t i = 0; i < count; i++) { // by names of groups, then by robots
            assert_ptr_equal(contacts[i].owners[0].group, first);
            assert_ptr_equal(contacts[i].owners[1].group, second);
            assert_int_equal(contacts[i].owners[0].instance, i);
        }
        if (count == 0)
            continue;
        seen++;
        double length = 0.0, load = 0.0;
        for (int c = 0; c < 3; c++)
            length += pow(centers[1][c] - centers[0][c], 2);
        length = sqrt(length);
        assert_near(contacts[0].depth, 0.2 - length, 1e-12);
        for (uint32_t c = 0; c < 3; c++) {
            assert_near(contacts[0].normal[c], (centers[1][c] - centers[0][c]) / length, 1e-9);
            assert_near(contacts[0].point[c], 0.5 * (centers[0][c] + centers[1][c]), 1e-9);
            assert_near(contacts[0].force[c], get_field(second, "wrench.link", 0, c), 1e-9);
            load += contacts[0].force[c] * contacts[0].normal[c];
        }
        assert_near(contacts[0].load, load, 1e-9);
        // Less room: the same from the first on, and how many there are.
        memset(again, 0xff, sizeof again);
        MUST(mf_world_contacts(pitch.world, again, 1, &count, &error));
        assert_int_equal(count, 2);
        assert_memory_equal(again[0].point, contacts[0].point, sizeof again->point);
        assert_memory_equal(again[0].force, contacts[0].force, sizeof again->force);
        assert_true(again[1].owners[0].link == UINT32_MAX); // untouched
        MUST(mf_world_contacts(pitch.world, NULL, 0, &count, &error));
        assert_int_equal(count, 2);
    }
    assert_true(seen > 3);
}

// Balls in a heap, with a snapshot on the way.
static uint32_t heap(uint32_t threads, mf_Contact *out) {
    static uint8_t image[262144];
    AUTO_PITCH pitch = pitch_open(threads, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
    mf_Group *balls = pitch_bodies(&pitch, ball_of(pitch.context, 1.0), "balls", 60, false);
    for (uint32_t i = 0; i < 60; i++)
        put(&pitch, balls, i, unit(3, 3 * i), unit(3, 3 * i + 1), 5.0 + unit(3, 3 * i + 2), 0.0);
    pitch_collide(&pitch, NULL);
    mf_world_step(pitch.world, 5);
    const size_t size = mf_world_snapshot_size(pitch.world);
    assert_true(size <= sizeof image);
    MUST(mf_world_snapshot(pitch.world, image, size, &error));
    MUST(mf_world_restore(pitch.world, image, size, &error));
    assert_int_equal(list(&pitch, out), 0);
    mf_world_step(pitch.world, 1);
    const uint32_t count = list(&pitch, out);
    return count;
}

TEST(lists_do_not_depend_on_threads) {
    mf_Contact one[ROOM], three[ROOM];
    const uint32_t count = heap(1, one);
    assert_true(count > 20);
    assert_int_equal(heap(3, three), count);
    for (uint32_t i = 0; i < count; i++) {
        assert_memory_equal(one[i].point, three[i].point, sizeof one->point);
        assert_memory_equal(one[i].force, three[i].force, sizeof one->force);
        for (int k = 0; k < 2; k++)
            assert_int_equal(one[i].owners[k].instance, three[i].owners[k].instance);
        if (i > 0) // by the first robot, then by the second
            assert_true(one[i - 1].owners[0].instance < one[i].owners[0].instance ||
                        (one[i - 1].owners[0].instance == one[i].owners[0].instance &&
                         one[i - 1].owners[1].instance < one[i].owners[1].instance));
    }
}

TEST(bad_queries_are_refused) {
    mf_Contact contacts[1];
    uint32_t count;
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
    MUST(mf_world_contacts(pitch.world, NULL, 0, &count, &error));
    assert_int_equal(count, 0);
    assert_int_equal(mf_world_contacts(NULL, contacts, 1, &count, &pitch.error), MF_BAD_ARGUMENT);
    assert_int_equal(mf_world_contacts(pitch.world, NULL, 1, &count, &pitch.error),
                     MF_BAD_ARGUMENT);
    assert_int_equal(mf_world_contacts(pitch.world, contacts, 1, NULL, &pitch.error),
                     MF_BAD_ARGUMENT);
}
