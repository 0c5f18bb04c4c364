// Builds a four-legged robot without a file, drops it from 0.3 m and prints where it comes to rest.
#include <mayfly/mayfly.h>

#include <stdio.h>
#include <string.h>

static const float orange[3] = {0.85f, 0.45f, 0.12f};
static const float dark[3] = {0.16f, 0.17f, 0.20f};

// One leg: a thin rod on a hinge at the body's corner, with a foot that has a contact sensor.
static void add_leg(mf_Builder *builder, mf_BodyId body, double x, double y,
                    const char *foot_name) {
    const double hip[3] = {x, y, 0.0};
    const double ankle[3] = {x, y, -0.12};
    const double sideways[3] = {0.0, 1.0, 0.0};
    mf_BodyId leg = mf_body_create_cylinder(builder, hip, ankle, 0.01, 0.05, orange);
    mf_BodyId foot = mf_body_create_point(builder, ankle, 0.01, dark);
    mf_body_connect(builder, leg, foot);
    mf_body_sense_contact(builder, foot, foot_name);

    mf_JointConfig hinge = mf_hinge_config();
    hinge.lower = -0.8;
    hinge.upper = 0.8;
    mf_joint_create_hinge(builder, body, leg, hip, sideways, &hinge);
}

// A mast that leans forward, with a camera and a range sensor towards the ground ahead, on a slide.
static void add_mast(mf_Builder *builder, mf_BodyId body) {
    const double low[3] = {0.1, 0.0, 0.025}, high[3] = {0.1, 0.0, 0.125};
    const double ahead[3] = {0.6, 0.0, -0.15}, lean[3] = {0.0, 0.3, 0.0};
    const double forward[3] = {0.02, 0.0, 0.0};
    mf_Camera camera = mf_camera();
    camera.name = "eye";
    memcpy(camera.frame.position, high, sizeof high);
    mf_BodyId mast = mf_body_create_cylinder(builder, low, high, 0.005, 0.02, orange);
    mf_body_camera(builder, mast, &camera);
    mf_body_connect(builder, mast, mf_body_create_ray(builder, high, ahead, dark));
    mf_body_rotate(builder, mast, lean);
    mf_body_move(builder, mast, forward);
    mf_JointConfig lift = mf_slide_config();
    lift.lower = 0.0;
    mf_joint_create_slide(builder, body, mast, low, (double[3]){0.0, 0.0, 1.0}, &lift);
}

// The builder stores its first error and reports it in finalize, so one check is enough.
static mf_Status build(mf_Context *context, mf_Model **out, mf_Error *error) {
    mf_Builder *builder = NULL;
    MF_TRY(mf_builder_create(context, "table", &builder, error));
    const double size[3] = {0.3, 0.2, 0.05};
    const double center[3] = {0.0, 0.0, 0.0};
    mf_BodyId body = mf_body_create_box(builder, size, center, 1.0, dark);
    add_mast(builder, body);
    mf_builder_simplify(builder, 1); // rods as boxes: fewer points, faster steps
    add_leg(builder, body, 0.14, 0.09, "left_front");
    add_leg(builder, body, 0.14, -0.09, "right_front");
    add_leg(builder, body, -0.14, 0.09, "left_rear");
    add_leg(builder, body, -0.14, -0.09, "right_rear");
    mf_Status status = mf_builder_finalize(builder, out, error);
    mf_builder_destroy(builder);
    return status;
}

static mf_Status drop(mf_World *world, const mf_Model *model, mf_Error *error) {
    mf_GroupConfig config = mf_group_config();
    config.model = model;
    config.count = 1;
    mf_Group *group = NULL;
    MF_TRY(mf_world_add_group(world, &config, &group, error));
    MF_TRY(mf_motion_add(group, MF_MOTION_POINTS, NULL, error));
    MF_TRY(mf_sensors_add(group, NULL, error));

    mf_Field *position = mf_group_find_field(group, "base.position");
    mf_field_set(position, 0, 2, model->rest_height + 0.3);
    for (int second = 0; second <= 3; second++) {
        printf("%d s: base at %.3f m\n", second, mf_field_get(position, 0, 2));
        mf_world_step(world, 100);
    }
    const mf_Field *values = mf_group_find_field(group, "sensor.value");
    for (uint32_t i = 0; i < model->sensor_count; i++)
        if (model->sensors[i].type == MF_SENSOR_RAY)
            printf("the range sensor sees the ground at %.2f m\n",
                   mf_field_get(values, 0, model->sensors[i].address));
    return MF_OK;
}

int main(void) {
    mf_WorldConfig settings = mf_world_config();
    mf_Context *context = NULL;
    mf_Model *model = NULL;
    mf_World *world = NULL;
    mf_Error error = {0};
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status == MF_OK)
        status = build(context, &model, &error);
    if (status == MF_OK) {
        printf("%s: %u links, %u joints, %u points, %u sensors, %.2f kg, stands %.3f m high\n",
               model->name, model->link_count, model->joint_count, model->point_count,
               model->sensor_count, model->mass, model->rest_height);
        status = mf_world_create(context, &settings, &world, &error);
    }
    if (status == MF_OK)
        status = drop(world, model, &error);

    char text[1024];
    if (status != MF_OK)
        fprintf(stderr, "%s\n", mf_error_format(&error, text, sizeof text));
    mf_world_destroy(world);
    mf_model_destroy(model);
    mf_context_destroy(context);
    return status == MF_OK ? 0 : 1;
}
