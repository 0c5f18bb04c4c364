// Mayfly: robots built by calls (Fischer and Ihme 2024, appendix).
#pragma once

#include <mayfly/camera.h>
#include <mayfly/model.h>

// A robot under construction. Body ids count from 0 in order of creation. A call that fails records
// the first error, returns MF_NO_BODY or MF_NO_JOINT, and makes mf_builder_finalize fail with it.
typedef struct mf_Builder mf_Builder;
typedef int32_t mf_BodyId;
typedef int32_t mf_JointId;
#define MF_NO_BODY ((mf_BodyId)-1)
#define MF_NO_JOINT ((mf_JointId)-1)

typedef struct mf_JointConfig {
    uint32_t struct_size; // [byte] set by mf_hinge_config() and mf_slide_config()
    const char *name;     // NULL = "joint<N>"
    double lower;         // [rad] default -pi/2; [m] of slides: -0.1
    double upper;         // [rad] default +pi/2; [m] of slides: 0.1
    double speed;         // [rad/s] default 5.0; [m/s] of slides: 0.5
} mf_JointConfig;
// The defaults: every configuration starts from them.
MF_API mf_JointConfig mf_hinge_config(void);
MF_API mf_JointConfig mf_slide_config(void);

// Makes a builder of one model named `name` (copied). Free with mf_builder_destroy.
MF_API mf_Status mf_builder_create(mf_Context *context, const char *name, mf_Builder **out,
                                   mf_Error *error);
MF_API void mf_builder_destroy(mf_Builder *builder); // NULL is fine

// Positions [m] are in the construction frame; mass [kg] >= 0 (a point needs > 0); color is red,
// green, blue in 0 .. 1 or NULL for gray.
MF_API mf_BodyId mf_body_create_point(mf_Builder *builder, const double position[3], double mass,
                                      const float color[3]);
MF_API mf_BodyId mf_body_create_cylinder(mf_Builder *builder, const double from[3],
                                         const double to[3], double radius, double mass,
                                         const float color[3]);
// `size` is width (x), depth (y), height (z).
MF_API mf_BodyId mf_body_create_box(mf_Builder *builder, const double size[3],
                                    const double center[3], double mass, const float color[3]);
MF_API mf_BodyId mf_body_create_sphere(mf_Builder *builder, const double center[3], double radius,
                                       double mass, const float color[3]);
// A distance sensor from `from` to `to`; it has no mass and does not collide.
MF_API mf_BodyId mf_body_create_ray(mf_Builder *builder, const double from[3], const double to[3],
                                    const float color[3]);
// Detail of bodies created from now on: 0 none, 1 cylinders and spheres become boxes, 2 two points,
// >= 3 one point.
MF_API void mf_builder_simplify(mf_Builder *builder, int mode);
// Glues two bodies into one link.
MF_API void mf_body_connect(mf_Builder *builder, mf_BodyId first, mf_BodyId second);
// A hinge between the links of two bodies; anchor [m] and axis are given in the frame of body
// `first`: the construction frame at that body's creation, moved and rotated with it. `config` may
// be NULL.
MF_API mf_JointId mf_joint_create_hinge(mf_Builder *builder, mf_BodyId first, mf_BodyId second,
                                        const double anchor[3], const double axis[3],
                                        const mf_JointConfig *config);
// A slide along the axis; likewise.
MF_API mf_JointId mf_joint_create_slide(mf_Builder *builder, mf_BodyId first, mf_BodyId second,
                                        const double anchor[3], const double axis[3],
                                        const mf_JointConfig *config);
MF_API void mf_body_move(mf_Builder *builder, mf_BodyId body, const double translation[3]); // [m]
// Roll, pitch, yaw [rad] about the construction axes x, then y, then z through the body's center;
// right-handed.
MF_API void mf_body_rotate(mf_Builder *builder, mf_BodyId body, const double angles[3]);
// Adds a contact sensor to the link of `body` (the paper's foot sensors).
MF_API void mf_body_sense_contact(mf_Builder *builder, mf_BodyId body, const char *name);
// Adds a dock to the link of `body`. Name and texts are copied; `frame` is in the construction
// frame, as of now, and its link is ignored; it moves with the body.
MF_API void mf_body_dock(mf_Builder *builder, mf_BodyId body, const mf_Dock *dock);
// The same of a camera.
MF_API void mf_body_camera(mf_Builder *builder, mf_BodyId body, const mf_Camera *camera);
// Freezes the robot. The link of body 0 is the base. The builder can then only be destroyed.
MF_API mf_Status mf_builder_finalize(mf_Builder *builder, mf_Model **out, mf_Error *error);
