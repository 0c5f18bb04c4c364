// The parts that instruments are made of, for making their plan (instruments_build.c).
//
// Everything is written twice: first to count, with no arrays, then into the allocation that the
// counts request, from which the image is packed.
#ifndef MF_SENSE_INSTRUMENTS_PARTS_H
#define MF_SENSE_INSTRUMENTS_PARTS_H

#include "sense/instruments_build.h"

typedef struct mf_InstrumentBuild {
    const mf_Model *model;
    mf_Group *group;
    bool lenient;
    mf_InstrumentSource *sources; // as all arrays NULL while counting
    uint32_t *links;
    mf_Instrument *instruments;
    mf_InstrumentLump *lumps;
    mf_InstrumentTerm *terms;
    mf_InstrumentForce *forces;
    mf_InstrumentSpring *springs;
    mf_InstrumentTendon *tendons;
    mf_InstrumentShape *shapes;
    mf_InstrumentContact *contacts;
    double *armature;
    mf_InstrumentMesh *meshes;
    float *vertices;
    uint32_t *triangles;
    uint32_t link_count, instrument_count, lump_count, term_count, force_count, spring_count,
        tendon_count, shape_count, contact_count, armature_count, mesh_count, vertex_count,
        triangle_count;                   // [1] written so far
    bool needed[MF_INSTRUMENT_LINKS + 1]; // links + 1 that sensors measure
    bool accelerates, energies, limits;
    uint32_t external_count; // [1] bodies whose forces from outside are summed
    uint32_t external[MF_INSTRUMENT_EXTERNAL];
    uint32_t touch_count; // [1] sensors whose contacts the motion sums
    uint32_t touches[MF_INSTRUMENT_TOUCHES];
    uint32_t first_lump, all_lumps; // [1]
} mf_InstrumentBuild;

mf_InstrumentFrame mf_instrument_frame(mf_InstrumentBuild *b, const mf_Frame *frame);
void mf_instrument_put_term(mf_InstrumentBuild *b, uint32_t row, double weight);
void mf_instrument_put_tendon_terms(mf_InstrumentBuild *b, uint32_t tendon, double gear);
// Whether a link is carried by a joint.
bool mf_instrument_moves(const mf_Model *model, uint32_t joint, uint32_t link);
void mf_instrument_put_lumps(mf_InstrumentBuild *b, uint32_t root);
void mf_instrument_put_shapes(mf_InstrumentBuild *b, uint32_t without);
void mf_instrument_put_contacts(mf_InstrumentBuild *b, uint32_t link);
uint32_t mf_instrument_balls_before(const mf_Model *model, uint32_t joint);
uint32_t mf_instrument_free_before(const mf_Model *model, uint32_t joint);
void mf_instrument_set_joint(mf_InstrumentBuild *b, uint32_t index, mf_Instrument *out);
void mf_instrument_put_joint_forces(mf_InstrumentBuild *b, uint32_t joint, mf_Instrument *out);
void mf_instrument_put_actuator(mf_InstrumentBuild *b, const mf_Sensor *sensor, mf_Instrument *out);
void mf_instrument_put_energies(mf_InstrumentBuild *b);

#endif
