// Messages of Foxglove's schemas, which its panels and the tools of ROS know.
#pragma once

#include "base/text.h"

#include <mayfly/model.h>

// Appends the descriptors of all of them, the same for each schema.
void mf_foxglove_describe(mf_Text *out);

// Append a Vector3 (and Point3), a Quaternion from (w, x, y, z), a Color, a Pose as a member.
void mf_foxglove_vector(mf_Text *out, uint32_t field, const double vector[3]);
void mf_foxglove_rotation(mf_Text *out, uint32_t field, const double rotation[4]);
void mf_foxglove_color(mf_Text *out, uint32_t field, const float color[3]);
void mf_foxglove_paint(mf_Text *out, uint32_t field, const double color[4]); // with its opacity
void mf_foxglove_pose(mf_Text *out, uint32_t field, const double position[3],
                      const double rotation[4]);
// Appends a member of FrameTransforms.
void mf_foxglove_transform(mf_Text *out, mf_Time time, const char *parent, const char *child,
                           const double position[3], const double rotation[4]);
// Begins an entity of a SceneUpdate that stays with its frame; its shapes follow, and
// mf_proto_close. A later one of the same name takes its place.
size_t mf_foxglove_open_entity(mf_Text *out, mf_Time time, const char *frame, const char *name);
// Append members of a SceneEntity. `color` takes the place of the shape's own. A size is that of
// the box around the cylinder.
void mf_foxglove_shape(mf_Text *out, const mf_Model *model, const mf_Shape *shape,
                       const float color[3]);
void mf_foxglove_cylinder(mf_Text *out, const double position[3], const double rotation[4],
                          const double size[3], const float color[3]);
void mf_foxglove_triangles(mf_Text *out, const double position[3], const double rotation[4],
                           const float *vertices, uint32_t vertex_count, const uint32_t *indices,
                           uint32_t index_count, const float color[3]);

// A point of a cloud, as it is in the message.
typedef struct mf_FoxglovePoint {
    float position[3]; // [m]
    uint8_t color[4];  // red, green, blue, alpha
} mf_FoxglovePoint;
// Appends the members of a PointCloud.
void mf_foxglove_cloud(mf_Text *out, mf_Time time, const char *frame,
                       const mf_FoxglovePoint *points, size_t count);
