// Mayfly: cloth, a sheet of vertices with stretch, shear and bending stiffness: a kind of model
// beside trees of links and trusses, and the motion that moves it, extended position-based dynamics
// (docs/explanation/cloth.md). Files are models/*.cloth.yaml (docs/reference/models.md).
#pragma once

#include <mayfly/model.h>
#include <mayfly/world.h>

#define MF_CLOTH_MOST 65536u // [1] most vertices, and twice as many triangles, of a cloth

// ---- the model ---------------------------------------------------------------------------------

typedef struct mf_ClothMaterial {
    double density;   // [kg/m^2] > 0 mass per area
    double stretch;   // [N/m] > 0 force per width and strain, along both directions of threads
    double shear;     // [N/m] >= 0 force per width and angle [rad] between both directions
    double bending;   // [N m] >= 0 moment per width and curvature
    double damping;   // [s] >= 0 of all these: force per rate, over their stiffness
    double strength;  // [N/m] >= 0 force per width at which it tears, along both directions; 0, the
                      // default: it does not tear
    double thickness; // [m] > 0: it collides with the ground and links at half of it
    double friction;  // [1] >= 0 with the ground and links
} mf_ClothMaterial;
// Plain woven cotton, the default: 0.15 kg/m^2, 1000 N/m, 50 N/m, 1e-5 N m, 0 s, no tearing, 1 mm,
// 0.4.
MF_API mf_ClothMaterial mf_cloth_material(void);

typedef enum mf_ClothPlane { // in which a rectangle lies in the frame of the file
    MF_CLOTH_XY,             // level
    MF_CLOTH_XZ,             // upright
    MF_CLOTH_YZ
} mf_ClothPlane;

// Either a rectangle, centered at the origin of the file's frame (z up), or triangles.
typedef struct mf_Cloth {
    const char *file; // path it was read from, or NULL
    const char *name;
    mf_ClothMaterial material;
    double size[2];                 // [m] of a rectangle, along both axes of its plane
    uint32_t counts[2];             // [1] its vertices along both, 2 and more each; 0: triangles
    mf_ClothPlane plane;            // of a rectangle
    const double (*vertices)[3];    // [m] of triangles; NULL for a rectangle
    const uint32_t (*triangles)[3]; // vertices of each; NULL for a rectangle
    uint32_t vertex_count, triangle_count; // [1] of triangles; 0 for a rectangle
    double warp[3]; // [1] direction of the first threads of triangles, projected onto each; default
                    // x. The second threads are perpendicular
    const uint32_t *pins; // [1] vertices that are fixed where the cloth starts
    uint32_t pin_count;   // [1]
    mf_Context *context;  // of what it was read with, or NULL
} mf_Cloth;
// A rectangle of the default material without pins. Vertex (i, j), i along the first axis, has the
// number j counts[0] + i.
MF_API mf_Cloth mf_cloth_rectangle(double width, double length, uint32_t columns, uint32_t rows);

// Of a cloth that mf_cloth_check accepts; 0 for NULL or a vertex or triangle that it does not have.
MF_API uint32_t mf_cloth_vertex_count(const mf_Cloth *cloth);   // [1]
MF_API uint32_t mf_cloth_triangle_count(const mf_Cloth *cloth); // [1]
MF_API double mf_cloth_area(const mf_Cloth *cloth);             // [m^2]
// Position [m] in the frame of the file.
MF_API void mf_cloth_vertex(const mf_Cloth *cloth, uint32_t vertex, double position[3]);
// The three vertices; of a rectangle two for each of its cells.
MF_API void mf_cloth_triangle(const mf_Cloth *cloth, uint32_t triangle, uint32_t vertices[3]);

// What can tear: of triangles each of them. Of a rectangle of n x m vertices its edges, first the
// (n - 1) m along the first axis, that from vertex (i, j) having the number j (n - 1) + i, then the
// n (m - 1) along the second, j n + i.
MF_API uint32_t mf_cloth_element_count(const mf_Cloth *cloth); // [1]

// The model of a group of cloths: one link with its mass and inertia, whose origin is the center of
// mass. The caller destroys *out.
MF_API mf_Status mf_cloth_model(mf_Context *context, const mf_Cloth *cloth, mf_Model **out,
                                mf_Error *error);

// ---- the motion --------------------------------------------------------------------------------

// The group's model is mf_cloth_model() of the cloth; the fields are in docs/explanation/cloth.md.
// MF_BAD_ARGUMENT names the setting that is wrong, or an edge of more than two triangles.
typedef struct mf_ClothConfig {
    uint32_t struct_size;  // [byte] set by mf_motions_config()
    const mf_Cloth *cloth; // of every instance; borrowed while it is added
    mf_Time substep; // [ns] longest substep: a step has as many equal ones as it needs, at most
                     // 1000, each with one pass over all constraints; shorter ones are stiffer.
                     // 0, the default: 0.02 to 1 ms, by stiffness and cells
    uint32_t pins;   // [1] space for pins beyond those of the cloth, at most 4096; default 0
    bool contacts;   // with the ground; default true
    double drag;     // [1/s] >= 0 deceleration over velocity, of still air; default 0.1
    double self_distance; // [m] >= 0 vertices that are more than three times as far from each other
                          // in the cloth at rest stay so far apart, about the distance of
                          // neighbors; default 0: the cloth passes through itself
} mf_ClothConfig;

// ---- among robots ------------------------------------------------------------------------------

// Adds the system `cloths`, which steps the cloths of all shared groups with the context's threads
// and lets them meet the colliding solids of the other shared groups. Links of groups that take
// wrenches (mf_collisions_prepare, before their motion is added) are pushed back. Call it after all
// groups, and after mf_collisions_add where there are collisions. Without it every cloth of a
// shared group is alone, too, and one thread steps it. MF_BAD_ARGUMENT: no shared group moves by
// cloth, or the world has the system. MF_LIMIT, MF_NO_MEMORY.
MF_API mf_Status mf_cloths_add(mf_World *world, mf_Error *error);
