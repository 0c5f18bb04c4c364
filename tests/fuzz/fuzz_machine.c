// Fuzz target: genomes of machines. Any bytes are refused, or are a machine whose genome they are,
// which is a truss, and whose children are machines.
#include "fuzz.h"
#include "motion/truss/machine.h"

static void check_machine(const uint8_t *genome) {
    static mf_Machine machine;
    uint8_t again[MF_MACHINE_BYTES];
    if (mf_machine_decode(genome, MF_MACHINE_BYTES, &machine, NULL) != MF_OK)
        return;
    require(mf_machine_bytes(&machine) <= MF_MACHINE_BYTES);
    require(mf_machine_encode(&machine, again, sizeof again, NULL) == MF_OK);
    require(memcmp(again, genome, sizeof again) == 0);
    if (machine.bar_count == 0)
        return;
    const mf_Truss truss = mf_machine_truss(&machine);
    require(mf_truss_check(&truss, NULL) == MF_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t genome[MF_MACHINE_BYTES] = {0}, child[MF_MACHINE_BYTES];
    mf_MachineConfig config = mf_machine_config();
    config.add = 0.2; // so that a draw without any operator is rare
    memcpy(genome, data, size < sizeof genome ? size : sizeof genome);
    check_machine(genome);
    require(mf_machine_vary(&config, genome, 1, size, child, sizeof child) == MF_OK);
    check_machine(child);
    return 0;
}
