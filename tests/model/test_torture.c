// Every allocation and file call of the model code fails once: an error is returned, nothing leaks.
#include "model/support.h"

GROUP_FIXTURE(setup_context, teardown_context);

static mf_Status build_robot(mf_Context *context, void *user, mf_Error *error) {
    const double zero[3] = {0, 0, 0}, one[3] = {0, 0, 1}, size[3] = {1, 1, 1};
    mf_Builder *builder = NULL;
    AUTO_MODEL *model = NULL;
    MF_TRY(mf_builder_create(context, "r", &builder, error));
    mf_BodyId last = mf_body_create_box(builder, size, zero, 1.0, NULL);
    for (int i = 0; i < 12; i++) {
        mf_BodyId next = mf_body_create_cylinder(builder, zero, one, 0.1, 1.0, NULL);
        mf_joint_create_hinge(builder, last, next, one, one, NULL);
        last = next;
    }
    mf_body_connect(builder, last, mf_body_create_ray(builder, zero, one, NULL));
    mf_body_sense_contact(builder, last, "foot");
    mf_Status status = mf_builder_finalize(builder, &model, error);
    if ((status == MF_OK) != (model != NULL))
        fail_msg("a failed call must give no model");
    mf_builder_destroy(builder);
    return status;
}

static mf_Status load_robot(mf_Context *context, void *user, mf_Error *error) {
    AUTO_MODEL *model = NULL;
    char *text = NULL;
    mf_Status status = mf_model_load(context, user, NULL, &model, error);
    if ((status == MF_OK) != (model != NULL))
        fail_msg("a failed call must give no model");
    if (status == MF_OK)
        status = mf_model_describe(model, &text, error);
    if ((status == MF_OK) != (text != NULL))
        fail_msg("a failed call must give no text");
    mf_release(context, text);
    return status;
}

TEST(building_survives_every_failure) {
    assert_true(torture(*state, build_robot, NULL, TORTURE_MUST_FAIL) > 20);
}

TEST(loading_survives_every_failure) {
    char path[512];
    write_text(path, "torture/package.xml", "<package><name>pack</name></package>");
    write_text(path, "torture/cube.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    write_text(path, "torture/cube.stl",
               "solid\nfacet\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
               "endfacet\nendsolid\n");
    write_text(
        path, "torture/urdf/robot.urdf",
        "<robot name='r'><material name='m'><color rgba='1 0 0 1'/></material><transmission/>"
        "<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
        "<visual><geometry><mesh filename='package://pack/cube.obj'/></geometry></visual>"
        "<collision><geometry><mesh filename='package://pack/cube.stl'/></geometry></collision>"
        "</link><link name='b'/><link name='c'><inertial><mass value='1'/></inertial></link>"
        "<joint name='f' type='fixed'><parent link='a'/><child link='b'/></joint>"
        "<joint name='j' type='revolute'><parent link='b'/><child link='c'/></joint>"
        "<gazebo reference='b'><sensor name='eye' type='ray'><ray><range><max>1</max></range></ray>"
        "</sensor></gazebo></robot>");
    assert_true(torture(*state, load_robot, path, TORTURE_MUST_FAIL) > 50);
}

TEST(our_own_models_survive_every_failure) {
    char path[] = MAYFLY_SOURCE_DIR "/models/hexapod.urdf";
    assert_true(torture(*state, load_robot, path, TORTURE_MUST_FAIL) > 50);
}

static mf_Status export_robot(mf_Context *context, void *user, mf_Error *error) {
    mf_Model *model = NULL;
    const char *path = formatted("%s.out.xml", (const char *)user);
    mf_Status status = mf_model_load(context, user, NULL, &model, error);
    if (status == MF_OK)
        status = mf_model_export_mjcf(model, path, error);
    mf_model_destroy(model);
    remove(path);
    return status;
}

// An MJCF file with a bit of everything: included file, mesh from a file and in place, hull, height
// field, chains, contacts, tendon, equalities, servo with a damping ratio, sensors, keyframe.
TEST(mjcf_survives_every_failure) {
    char path[512], part[512];
    write_text(path, "torture/tet.obj",
               "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    write_text(part, "torture/part.xml",
               "<mujoco><asset><mesh file='tet.obj'/><hfield name='h' nrow='2' ncol='2' size='1 1 "
               "1 1' elevation='0 1 2 3'/></asset></mujoco>");
    write_text(
        path, "torture/robot.xml",
        "<mujoco><include file='part.xml'/><default><default class='c'><geom condim='4'/></default>"
        "</default><worldbody><light/><geom type='hfield' hfield='h'/><body name='a'><freejoint/>"
        "<geom name='g' class='c' type='mesh' mesh='tet'/><frame pos='1 0 0'><body name='b'><joint "
        "name='j'/><joint name='k' type='slide'/><geom name='i' size='1'/><site "
        "name='s'/><replicate count='2' sep='-'><site name='r'/></replicate></body>"
        "</frame></body></worldbody><contact><pair geom1='g' geom2='i'/><exclude body1='a' "
        "body2='b'/></contact><tendon><fixed name='t'><joint joint='j' coef='1'/></fixed></tendon>"
        "<equality><weld body1='a' body2='b'/></equality><actuator><position joint='j' "
        "dampratio='1'/></actuator><sensor><gyro site='s'/><gyro name='n' site='r'/>"
        "<contact geom1='g' body2='b'/></sensor><keyframe><key ctrl='1'/>"
        "</keyframe></mujoco>");
    assert_true(torture(*state, load_robot, path, TORTURE_MUST_FAIL) > 80);
    assert_true(torture(*state, export_robot, path, TORTURE_MUST_FAIL) > 80);
    remove(part);
}
