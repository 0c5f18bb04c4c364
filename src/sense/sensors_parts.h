// The parts that sensors are made of, for making their plan (sensors_build.c).
//
// Everything is written twice: first to count, with no arrays, then into the allocation that the
// counts request, from which the image is packed.
#pragma once

#include "sense/sensors_build.h"

// The arrays of the image: type, name, name of one (whose count is the number written so far),
// values of an element.
#define MF_SENSE_ARRAYS(ARRAY)                                                                     \
    ARRAY(uint32_t, links, link, 1)                                                                \
    ARRAY(mf_SenseItem, items, item, 1)                                                            \
    ARRAY(mf_SenseLump, lumps, lump, 1)                                                            \
    ARRAY(mf_SenseTerm, terms, term, 1)                                                            \
    ARRAY(mf_SenseForce, forces, force, 1)                                                         \
    ARRAY(mf_SenseSpring, springs, spring, 1)                                                      \
    ARRAY(mf_SenseTendon, tendons, tendon, 1)                                                      \
    ARRAY(mf_SenseShape, shapes, shape, 1)                                                         \
    ARRAY(mf_SenseContact, contacts, contact, 1)                                                   \
    ARRAY(double, armature, armature, 1)                                                           \
    ARRAY(mf_SenseMesh, meshes, mesh, 1)                                                           \
    ARRAY(float, vertices, vertex, 3)                                                              \
    ARRAY(uint32_t, triangles, triangle, 3)
#define MF_SENSE_MEMBERS(type, name, one, each)                                                    \
    type *name;                                                                                    \
    uint32_t one##_count;

// Writes an element, or only counts it.
#define MF_SENSE_PUT(build, name, one, ...)                                                        \
    do {                                                                                           \
        if ((build)->name != NULL)                                                                 \
            (build)->name[(build)->one##_count] = __VA_ARGS__;                                     \
        (build)->one##_count++;                                                                    \
    } while (0)

typedef struct mf_SenseBuild {
    const mf_Model *model;
    mf_Group *group;
    bool lenient;
    mf_SenseSource *sources; // as all arrays NULL while counting
    MF_SENSE_ARRAYS(MF_SENSE_MEMBERS)
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
