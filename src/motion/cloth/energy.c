// Energy and momentum of a cloth, from its fields, in double.
#include "math/scalar.h"
#include "motion/cloth/motion.h"

typedef struct Sheet {
    const mf_ClothMotion *motion;
    uint32_t instance;
} Sheet;

static double mass_of(const Sheet *sheet, uint32_t vertex) {
    const mf_ClothPlan *plan = sheet->motion->plan;
    return mf_cloth_masses_f64(plan)[mf_cloth_slot_of(plan)[vertex]];
}

static void read(const Sheet *sheet, int row, uint32_t vertex, double out[3]) {
    for (uint32_t c = 0; c < 3; c++)
        out[c] = mf_field_get(sheet->motion->rows[row], sheet->instance, 3 * vertex + c);
}

// ---- elastic -----------------------------------------------------------------------------------

// sum of k x.
static void combine(double out[3], double (*x)[3], const double *k, uint32_t count) {
    mf_vec3_set(out, 0, 0, 0);
    for (uint32_t i = 0; i < count; i++)
        mf_vec3_add_scaled(out, out, k[i], x[i]);
}

// C^2 / (2 a) [J] of one constraint, as solve.h has them.
static double energy_of(uint32_t kind, double (*x)[3], const double *value) {
    static const double twist[4] = {1.0, -1.0, -1.0, 1.0};
    double u[3], v[3];
    if (kind == MF_CLOTH_EDGE) {
        mf_vec3_sub(u, x[1], x[0]);
        const double c = mf_vec3_length(u) - value[0];
        return 0.5 * c * c / value[1];
    }
    if (kind == MF_CLOTH_LINE || kind == MF_CLOTH_HINGE) {
        const uint32_t nodes = mf_cloth_nodes(kind);
        combine(u, x, value, nodes);
        return 0.5 * mf_vec3_dot(u, u) / value[nodes];
    }
    if (kind == MF_CLOTH_CELL) {
        const double across[4] = {-value[0], value[0], -value[0], value[0]};
        const double along[4] = {-value[1], -value[1], value[1], value[1]};
        combine(u, x, across, 4);
        combine(v, x, along, 4);
        const double c = mf_vec3_dot(u, v);
        combine(u, x, twist, 4);
        return 0.5 * c * c / value[2] + 0.5 * mf_vec3_dot(u, u) / value[3];
    }
    const double warp[3] = {-value[0] - value[1], value[0], value[1]};
    const double weft[3] = {-value[2] - value[3], value[2], value[3]};
    combine(u, x, warp, 3);
    combine(v, x, weft, 3);
    const double c[3] = {mf_vec3_length(u) - 1.0, mf_vec3_length(v) - 1.0, mf_vec3_dot(u, v)};
    return 0.5 * (c[0] * c[0] + c[1] * c[1]) / value[4] + 0.5 * c[2] * c[2] / value[5];
}

// Place of a node; lanes without a constraint have compliances that leave no energy.
static uint32_t node_slot(const mf_ClothPlan *plan, const mf_ClothBatch *batch, uint32_t node,
                          uint32_t lane) {
    return batch->slots == MF_CLOTH_APART
               ? batch->at[node] + lane
               : (uint32_t)mf_cloth_slots(plan)[batch->slots + node * MF_CLOTH_LANES + lane];
}

// Whether the constraint of a lane has lost an element.
static bool is_gone(const Sheet *sheet, uint32_t batch, uint32_t lane) {
    const mf_ClothPlan *plan = sheet->motion->plan;
    for (uint32_t i = 0; plan->element_count > 0 && i < MF_CLOTH_NODES; i++) {
        const uint32_t element = mf_cloth_elements(plan)[mf_cloth_need_at(batch, lane) + i];
        if (element != MF_NONE &&
            mf_field_get(sheet->motion->rows[MF_CLOTH_ROW_TORN], sheet->instance, element) != 0.0)
            return true;
    }
    return false;
}

static double batch_energy(const Sheet *sheet, uint32_t index) {
    const mf_ClothPlan *plan = sheet->motion->plan;
    const mf_ClothBatch *batch = &mf_cloth_batches(plan)[index];
    const double *rows = mf_cloth_values_f64(plan) + (size_t)batch->values * MF_CLOTH_LANES;
    const uint32_t nodes = mf_cloth_nodes(batch->kind), values = mf_cloth_values(batch->kind);
    double energy = 0.0;
    for (uint32_t lane = 0; lane < MF_CLOTH_LANES; lane++) {
        double x[MF_CLOTH_NODES][3] = {{0}}, value[6] = {0};
        if (is_gone(sheet, index, lane))
            continue;
        for (uint32_t i = 0; i < values; i++)
            value[i] = rows[i * MF_CLOTH_LANES + lane];
        for (uint32_t node = 0; node < nodes; node++) {
            const uint32_t at = node_slot(plan, batch, node, lane);
            const uint32_t vertex =
                at < plan->slot_count ? mf_cloth_vertex_at(plan)[at] : MF_CLOTH_APART;
            if (vertex != MF_CLOTH_APART)
                read(sheet, MF_CLOTH_ROW_POSITION, vertex, x[node]);
        }
        energy += energy_of(batch->kind, x, value);
    }
    return energy;
}

// ---- sums --------------------------------------------------------------------------------------

mf_MotionEnergy mf_cloth_energy(const mf_Group *group, const void *motion, uint32_t instance) {
    (void)group;
    const Sheet sheet = {motion, instance};
    const mf_ClothPlan *plan = sheet.motion->plan;
    mf_MotionEnergy energy = {0};
    double x[3], v[3];
    for (uint32_t vertex = 0; vertex < plan->vertex_count; vertex++) {
        read(&sheet, MF_CLOTH_ROW_POSITION, vertex, x);
        read(&sheet, MF_CLOTH_ROW_VELOCITY, vertex, v);
        energy.kinetic += 0.5 * mass_of(&sheet, vertex) * mf_vec3_dot(v, v);
        energy.potential -= mass_of(&sheet, vertex) * mf_vec3_dot(plan->gravity, x);
    }
    for (uint32_t i = 0; i < plan->batch_count; i++)
        energy.elastic += batch_energy(&sheet, i);
    return energy;
}

// The center of mass, and the sums of m v and of (x - center) x m v.
void mf_cloth_momentum(const mf_Group *group, const void *motion, uint32_t instance,
                       double center[3], double linear[3], double angular[3]) {
    (void)group;
    const Sheet sheet = {motion, instance};
    const uint32_t count = sheet.motion->plan->vertex_count;
    double x[3], v[3], arm[3], spin[3];
    mf_vec3_set(center, 0, 0, 0);
    mf_vec3_set(linear, 0, 0, 0);
    mf_vec3_set(angular, 0, 0, 0);
    for (uint32_t vertex = 0; vertex < count; vertex++) {
        read(&sheet, MF_CLOTH_ROW_POSITION, vertex, x);
        read(&sheet, MF_CLOTH_ROW_VELOCITY, vertex, v);
        mf_vec3_add_scaled(center, center, mass_of(&sheet, vertex) / sheet.motion->mass, x);
        mf_vec3_add_scaled(linear, linear, mass_of(&sheet, vertex), v);
    }
    for (uint32_t vertex = 0; vertex < count; vertex++) {
        read(&sheet, MF_CLOTH_ROW_POSITION, vertex, x);
        read(&sheet, MF_CLOTH_ROW_VELOCITY, vertex, v);
        mf_vec3_sub(arm, x, center);
        mf_vec3_cross(spin, arm, v);
        mf_vec3_add_scaled(angular, angular, mass_of(&sheet, vertex), spin);
    }
}
