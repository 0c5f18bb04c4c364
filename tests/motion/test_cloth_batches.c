// Batches of constraints for cloths of many sizes: whatever the width of a kernel, a place that one
// node of a batch is at, no other node of it reads or writes, not even for lanes without a
// constraint.
#include "rig/rig.h"
#include "cloth_rig.h"

#include "motion/cloth/program.h"

GROUP_FIXTURE(make_context, drop_context);

static uint32_t place(const mf_ClothPlan *plan, const mf_ClothBatch *batch, uint32_t node,
                      uint32_t lane) {
    return batch->slots == MF_CLOTH_APART
               ? batch->at[node] + lane
               : (uint32_t)mf_cloth_slots(plan)[batch->slots + node * MF_CLOTH_LANES + lane];
}

// Where all lanes of all nodes of a batch are. The places behind all others are of no vertex.
static void check_batch(const mf_ClothPlan *plan, const mf_ClothBatch *batch, uint8_t *owners) {
    const uint32_t nodes = mf_cloth_nodes(batch->kind);
    for (uint32_t node = 0; node < nodes; node++)
        for (uint32_t lane = 0; lane < MF_CLOTH_LANES; lane++) {
            const uint32_t at = place(plan, batch, node, lane);
            assert_true(at < mf_cloth_scratch_size(plan));
            if (at < plan->slot_count)
                assert_int_equal(owners[at]++, 0);
        }
    for (uint32_t node = 0; node < nodes; node++)
        for (uint32_t lane = 0; lane < MF_CLOTH_LANES; lane++)
            owners[place(plan, batch, node, lane)] = 0;
}

static void check_cloth(mf_Context *context, uint32_t columns, uint32_t rows) {
    const mf_Cloth cloth = mf_cloth_rectangle(0.05 * columns, 0.05 * rows, columns, rows);
    const mf_ClothPlan settings = {.substeps = 1};
    mf_ClothPlan *plan = NULL;
    MUST(mf_cloth_program(context, &cloth, &settings, &plan, &error));
    uint8_t *owners = mf_allocate(context, mf_cloth_scratch_size(plan), 1);
    assert_non_null(owners);
    assert_true(plan->batch_count > 0);
    for (uint32_t i = 0; i < plan->batch_count; i++)
        check_batch(plan, &mf_cloth_batches(plan)[i], owners);
    mf_release(context, owners);
    mf_release(context, plan);
}

// Columns of one to several rows of lanes, whole and with empty lanes.
TEST(nodes_share_no_value) {
    static const uint32_t counts[] = {2, 3, 5, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 80, 100};
    const size_t count = sizeof counts / sizeof counts[0];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            check_cloth(*state, counts[i], counts[j]);
}
