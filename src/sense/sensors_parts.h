// The parts that sensors are made of, for making their plan (sensors_build.c).
//
// Everything is written twice: first to count, with no arrays, then into the allocation that the
// counts request, from which the image is packed.
#ifndef MF_SENSE_SENSORS_PARTS_H
#define MF_SENSE_SENSORS_PARTS_H

#include "sense/sensors_build.h"

typedef struct mf_SenseBuild {
    const mf_Model *model;
    mf_Group *group;
    bool lenient;
    mf_SenseSource *sources; // as all arrays NULL while counting
    uint32_t *links;
    mf_SenseItem *items;
    mf_SenseLump *lumps;
    mf_SenseTerm *terms;
    mf_SenseForce *forces;
    mf_SenseSpring *springs;
    mf_SenseTendon *tendons;
    mf_SenseShape *shapes;
    mf_SenseContact *contacts;
    double *armature;
    mf_SenseMesh *meshes;
    float *vertices;
    uint32_t *triangles;
    uint32_t link_count, item_count, lump_count, term_count, force_count, spring_count,
        tendon_count, shape_count, contact_count, armature_count, mesh_count, vertex_count,
        triangle_count;       // [1] written so far
    bool *needed;             // [1] links + 1 that sensors measure
    const mf_Sensor *posture; // sensors behind those of the model,
    uint32_t posture_count;   // [1] so many
    bool accelerates, energies, limits, moves;
    uint32_t external_count; // [1] bodies whose forces from outside are summed
    uint32_t external[MF_SENSE_EXTERNAL];
    uint32_t touch_count; // [1] sensors whose contacts the motion sums
    uint32_t touches[MF_SENSE_TOUCHES];
    uint32_t first_lump, all_lumps; // [1]
} mf_SenseBuild;

mf_SenseFrame mf_sense_frame(mf_SenseBuild *b, const mf_Frame *frame);
void mf_sense_put_term(mf_SenseBuild *b, uint32_t row, double weight);
void mf_sense_put_tendon_terms(mf_SenseBuild *b, uint32_t tendon, double gear);
// Whether a link is carried by a joint.
bool mf_sense_moves(const mf_Model *model, uint32_t joint, uint32_t link);
void mf_sense_put_lumps(mf_SenseBuild *b, uint32_t root);
void mf_sense_put_shapes(mf_SenseBuild *b, uint32_t without);
void mf_sense_put_contacts(mf_SenseBuild *b, uint32_t link);
uint32_t mf_sense_balls_before(const mf_Model *model, uint32_t joint);
uint32_t mf_sense_free_before(const mf_Model *model, uint32_t joint);
void mf_sense_set_joint(mf_SenseBuild *b, uint32_t index, mf_SenseItem *out);
void mf_sense_put_joint_forces(mf_SenseBuild *b, uint32_t joint, mf_SenseItem *out);
void mf_sense_put_actuator(mf_SenseBuild *b, const mf_Sensor *sensor, mf_SenseItem *out);
void mf_sense_put_energies(mf_SenseBuild *b);

#endif
