// The schemas of Foxglove (docs.foxglove.dev, "Foxglove schemas") that MCAP recordings use, whole,
// because panels read all members.
#include "record/foxglove.h"

#include "math/scalar.h"
#include "model/shape_kinds.h"
#include "record/proto.h"

static const char *const lines[] = {
    "Vector3 x:d y:d z:d",
    "Point3 x:d y:d z:d",
    "Quaternion x:d y:d z:d w:d",
    "Pose position:Vector3 orientation:Quaternion",
    "Color r:d g:d b:d a:d",
    "KeyValuePair key:s value:s",
    "FrameTransform timestamp:T parent_frame_id:s child_frame_id:s translation:Vector3 "
    "rotation:Quaternion",
    "FrameTransforms transforms:*FrameTransform",
    "JointState name:s position:?d velocity:?d acceleration:?d effort:?d",
    "JointStates timestamp:T joints:*JointState",
    "RawImage timestamp:T frame_id=7:s width=2:u height:u encoding:s step:u data:y",
    "PackedElementField name:s offset:u "
    "type:NumericType(UNKNOWN,UINT8,INT8,UINT16,INT16,UINT32,INT32,"
    "FLOAT32,FLOAT64)",
    "PointCloud timestamp:T frame_id:s pose:Pose point_stride:u fields:*PackedElementField data:y",
    "ArrowPrimitive pose:Pose shaft_length:d shaft_diameter:d head_length:d head_diameter:d "
    "color:Color",
    "CubePrimitive pose:Pose size:Vector3 color:Color",
    "SpherePrimitive pose:Pose size:Vector3 color:Color",
    "CylinderPrimitive pose:Pose size:Vector3 bottom_scale:d top_scale:d color:Color",
    "LinePrimitive type:Type(LINE_STRIP,LINE_LOOP,LINE_LIST) pose:Pose thickness:d "
    "scale_invariant:b points:*Point3 color:Color colors:*Color indices:*u",
    "TriangleListPrimitive pose:Pose points:*Point3 color:Color colors:*Color indices:*u",
    "TextPrimitive pose:Pose billboard:b font_size:d scale_invariant:b color:Color text:s",
    "ModelPrimitive pose:Pose scale:Vector3 color:Color override_color:b url:s media_type:s data:y",
    "SceneEntityDeletion timestamp:T type:Type(MATCHING_ID,ALL) id:s",
    "SceneEntity timestamp:T frame_id:s id:s lifetime:D frame_locked:b metadata:*KeyValuePair "
    "arrows:*ArrowPrimitive cubes:*CubePrimitive spheres:*SpherePrimitive "
    "cylinders:*CylinderPrimitive lines:*LinePrimitive triangles:*TriangleListPrimitive "
    "texts:*TextPrimitive models:*ModelPrimitive",
    "SceneUpdate deletions:*SceneEntityDeletion entities:*SceneEntity",
    NULL};

void mf_foxglove_describe(mf_Text *out) {
    mf_proto_describe(out, "foxglove", lines);
}

static void put_numbers(mf_Text *out, uint32_t field, const double *values, uint32_t count) {
    const size_t opened = mf_proto_open(out, field);
    for (uint32_t i = 0; i < count; i++)
        mf_proto_double(out, i + 1, values[i]);
    mf_proto_close(out, opened);
}

void mf_foxglove_vector(mf_Text *out, uint32_t field, const double vector[3]) {
    put_numbers(out, field, vector, 3);
}

void mf_foxglove_rotation(mf_Text *out, uint32_t field, const double rotation[4]) {
    const double order[4] = {rotation[1], rotation[2], rotation[3], rotation[0]};
    put_numbers(out, field, order, 4);
}

void mf_foxglove_color(mf_Text *out, uint32_t field, const float color[3]) {
    const double values[4] = {(double)color[0], (double)color[1], (double)color[2], 1.0};
    put_numbers(out, field, values, 4);
}

void mf_foxglove_paint(mf_Text *out, uint32_t field, const double color[4]) {
    put_numbers(out, field, color, 4);
}

void mf_foxglove_pose(mf_Text *out, uint32_t field, const double position[3],
                      const double rotation[4]) {
    const size_t opened = mf_proto_open(out, field);
    mf_foxglove_vector(out, 1, position);
    mf_foxglove_rotation(out, 2, rotation);
    mf_proto_close(out, opened);
}

void mf_foxglove_transform(mf_Text *out, mf_Time time, const char *parent, const char *child,
                           const double position[3], const double rotation[4]) {
    const size_t opened = mf_proto_open(out, 1);
    mf_proto_time(out, 1, time);
    mf_proto_string(out, 2, parent);
    mf_proto_string(out, 3, child);
    mf_foxglove_vector(out, 4, position);
    mf_foxglove_rotation(out, 5, rotation);
    mf_proto_close(out, opened);
}

size_t mf_foxglove_open_entity(mf_Text *out, mf_Time time, const char *frame, const char *name) {
    const size_t opened = mf_proto_open(out, 2);
    mf_proto_time(out, 1, time);
    mf_proto_string(out, 2, frame);
    mf_proto_string(out, 3, name);
    mf_proto_uint(out, 5, 1);
    return opened;
}

// ---- shapes ------------------------------------------------------------------------------------

#define PLATE 0.001                                              // [m] thickness of a plane
#define INFINITE_PLANE 20.0                                      // [m] edge of one without an end
enum { CUBES = 8, SPHERES = 9, CYLINDERS = 10, TRIANGLES = 12 }; // members of an entity

static void put_solid(mf_Text *out, uint32_t member, const double position[3],
                      const double rotation[4], const double size[3], const float color[3]) {
    const size_t opened = mf_proto_open(out, member);
    mf_foxglove_pose(out, 1, position, rotation);
    mf_foxglove_vector(out, 2, size);
    if (member == CYLINDERS) {
        mf_proto_double(out, 3, 1.0);
        mf_proto_double(out, 4, 1.0);
    }
    mf_foxglove_color(out, member == CYLINDERS ? 5 : 3, color);
    mf_proto_close(out, opened);
}

void mf_foxglove_cylinder(mf_Text *out, const double position[3], const double rotation[4],
                          const double size[3], const float color[3]) {
    put_solid(out, CYLINDERS, position, rotation, size, color);
}

// A cylinder with two spheres.
static void put_capsule(mf_Text *out, const mf_Shape *shape, const float color[3]) {
    const double radius = shape->size[0], half = 0.5 * shape->size[1];
    const double *rotation = shape->rotation;
    // The third column of the rotation's matrix.
    const double axis[3] = {2.0 * (rotation[1] * rotation[3] + rotation[0] * rotation[2]),
                            2.0 * (rotation[2] * rotation[3] - rotation[0] * rotation[1]),
                            1.0 - 2.0 * (rotation[1] * rotation[1] + rotation[2] * rotation[2])};
    const double ball[3] = {2.0 * radius, 2.0 * radius, 2.0 * radius};
    const double tube[3] = {ball[0], ball[0], shape->size[1]};
    put_solid(out, CYLINDERS, shape->position, rotation, tube, color);
    for (int side = -1; side <= 1; side += 2) {
        double position[3];
        for (int c = 0; c < 3; c++)
            position[c] = shape->position[c] + side * half * axis[c];
        put_solid(out, SPHERES, position, rotation, ball, color);
    }
}

void mf_foxglove_triangles(mf_Text *out, const double position[3], const double rotation[4],
                           const float *vertices, uint32_t vertex_count, const uint32_t *indices,
                           uint32_t index_count, const float color[3]) {
    const size_t opened = mf_proto_open(out, TRIANGLES);
    mf_foxglove_pose(out, 1, position, rotation);
    for (uint32_t i = 0; i < vertex_count; i++) {
        const float *from = vertices + 3 * (size_t)i;
        mf_foxglove_vector(out, 2, (double[3]){(double)from[0], (double)from[1], (double)from[2]});
    }
    mf_foxglove_color(out, 3, color);
    mf_proto_bytes(out, 5, indices, index_count * sizeof *indices);
    mf_proto_close(out, opened);
}

// A thin plate below the plane.
static void put_plane(mf_Text *out, const mf_Shape *shape, const float color[3]) {
    double size[3] = {shape->size[0], shape->size[1], PLATE}, position[3];
    for (int c = 0; c < 2; c++)
        size[c] = size[c] > 0.0 ? size[c] : INFINITE_PLANE;
    mf_quat_rotate(position, shape->rotation, (double[3]){0.0, 0.0, -0.5 * PLATE});
    mf_vec3_add(position, position, shape->position);
    put_solid(out, CUBES, position, shape->rotation, size, color);
}

void mf_foxglove_shape(mf_Text *out, const mf_Model *model, const mf_Shape *shape,
                       const float color[3]) {
    static const uint32_t solids[] = {
        [MF_SHAPE_BOX] = CUBES, [MF_SHAPE_SPHERE] = SPHERES, [MF_SHAPE_CYLINDER] = CYLINDERS};
    double middle[3], half[3], size[3];
    if (!mf_shape_is_solid(shape->type))
        return;
    switch (shape->type) {
    case MF_SHAPE_CAPSULE:
        put_capsule(out, shape, color);
        break;
    case MF_SHAPE_MESH: {
        const mf_Mesh *mesh = &model->meshes[shape->mesh];
        mf_foxglove_triangles(out, shape->position, shape->rotation, mesh->vertices,
                              mesh->vertex_count, mesh->triangles, 3 * mesh->triangle_count, color);
        break;
    }
    case MF_SHAPE_PLANE:
        put_plane(out, shape, color);
        break;
    default:
        mf_shape_box(shape->type, shape->size, NULL, middle, half);
        mf_vec3_scale(size, half, 2.0);
        put_solid(out, solids[mf_shape_kinds[shape->type].like], shape->position, shape->rotation,
                  size, color);
    }
}

// ---- clouds ------------------------------------------------------------------------------------

void mf_foxglove_cloud(mf_Text *out, mf_Time time, const char *frame,
                       const mf_FoxglovePoint *points, size_t count) {
    static const char *const names[] = {"x", "y", "z", "red", "green", "blue", "alpha"};
    const double origin[3] = {0.0, 0.0, 0.0}, whole[4] = {1.0, 0.0, 0.0, 0.0};
    mf_proto_time(out, 1, time);
    mf_proto_string(out, 2, frame);
    mf_foxglove_pose(out, 3, origin, whole);
    mf_proto_fixed32(out, 4, sizeof *points);
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const bool number = i < 3;
        const size_t opened = mf_proto_open(out, 5);
        mf_proto_string(out, 1, names[i]);
        mf_proto_fixed32(out, 2, number ? 4 * i : 9 + i);
        mf_proto_uint(out, 3, number ? 7 : 1); // FLOAT32, UINT8
        mf_proto_close(out, opened);
    }
    mf_proto_bytes(out, 6, points, count * sizeof *points);
}
