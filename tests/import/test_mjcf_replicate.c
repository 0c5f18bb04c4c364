// <replicate>: names, poses and references to copies; test_mujoco.sh compares replicate.xml with
// MuJoCo number by number.
#include "model/support.h"

GROUP_FIXTURE(setup_context, teardown_context);

#define MODEL(world, rest) "<mujoco><worldbody>" world "</worldbody>" rest "</mujoco>"

TEST(copies_have_the_right_poses) {
    AUTO_MODEL *model = load_text(*state, MODEL("<replicate count='10' sep='-' offset='1 0 0' "
                                                "euler='0 0 90'><body name='b' pos='.5 0 0'><joint "
                                                "name='j'/><geom name='g' size='.1'/></body>"
                                                "</replicate>",
                                                ""));
    // Ten has two digits. One step to the right, turned, is up, then left, then down.
    static const double positions[4][2] = {{0.5, 0}, {1, 0.5}, {0.5, 1}, {0, 0.5}};
    assert_int_equal(model->body_count, 10);
    assert_int_equal(model->joint_count, 10);
    assert_string_equal(model->bodies[0].name, "b-00");
    assert_string_equal(model->bodies[9].name, "b-09");
    assert_string_equal(model->shapes[3].name, "g-03");
    for (int i = 0; i < 10; i++) {
        assert_near(model->bodies[i].local_position[0], positions[i % 4][0], 1e-12);
        assert_near(model->bodies[i].local_position[1], positions[i % 4][1], 1e-12);
    }
}

TEST(what_refers_to_copies_is_copied) {
    AUTO_MODEL *model = load_text(
        *state,
        MODEL(
            "<body name='o'><joint name='k'/><geom size='1'/></body><replicate count='2'>"
            "<body name='b' pos='3 0 0'><joint name='j'/><geom size='1'/>"
            "<replicate count='2' sep='.'><site name='s'/></replicate></body></replicate>",
            "<tendon><fixed name='t'><joint joint='k' coef='2'/><joint joint='j' coef='3'/></fixed>"
            "</tendon><actuator><motor name='m' tendon='t'/><motor name='n' joint='k'/></actuator>"
            "<sensor><actuatorfrc name='f' actuator='m'/><framepos name='p' objtype='site' "
            "objname='s'/><jointpos name='q' joint='k'/></sensor>"));
    static const char *const sensors[] = {"q", "f0", "p.00", "p.10", "f1", "p.01", "p.11"};
    assert_int_equal(model->tendon_count, 2);
    assert_int_equal(model->actuator_count, 3);
    assert_string_equal(model->actuators[0].name, "n");
    assert_string_equal(model->actuators[2].name, "m1");
    assert_int_equal(model->actuators[2].tendon, 1);
    assert_int_equal(model->sensor_count, 7);
    for (int i = 0; i < 7; i++)
        assert_true(mf_model_find(model, MF_ITEM_SENSOR, sensors[i]) != MF_NONE);
    assert_int_equal(model->tendon_terms[3].joint, mf_model_find(model, MF_ITEM_JOINT, "j1"));
    assert_int_equal(model->tendon_terms[2].joint, mf_model_find(model, MF_ITEM_JOINT, "k"));
}

TEST(none_is_fine_too) {
    AUTO_MODEL *model =
        load_text(*state, MODEL("<body><joint/><geom size='1'/><replicate count='0'>"
                                "<geom size='2'/></replicate></body>",
                                ""));
    assert_int_equal(model->shape_count, 1);
}

TEST(contact_sensors_are_read) {
    AUTO_MODEL *model = load_text(
        *state, MODEL("<geom name='f' type='plane' size='1 1 1'/><body name='b'><freejoint/>"
                      "<geom name='g' size='.1'/></body>",
                      "<sensor><contact geom1='f' body2='b'/><contact subtree1='world' num='3' "
                      "reduce='mindist' data='found pos normal'/></sensor>"));
    const mf_Sensor *one = &model->sensors[0], *three = &model->sensors[1];
    assert_int_equal(one->count, 1);
    assert_int_equal(one->query.sides[0], MF_CONTACT_SIDE_SHAPE);
    assert_int_equal(one->query.sides[1], MF_CONTACT_SIDE_BODY);
    assert_int_equal(one->query.data, MF_CONTACT_FOUND);
    assert_false(one->query.nearest);
    assert_int_equal(three->count, 21);
    assert_int_equal(three->query.sides[0], MF_CONTACT_SIDE_SUBTREE);
    assert_int_equal(three->query.objects[0], MF_NONE);
    assert_int_equal(three->query.slots, 3);
    assert_true(three->query.nearest);
}
