// Worlds and what is in them, by the names of fields.
#pragma once

#include <mayfly/world.h>

// A world, or a group of it, with these settings; failure fails the test.
mf_World *open_world(mf_Context *context, const mf_WorldConfig *config);
mf_Group *add_group(mf_World *world, const mf_GroupConfig *config);

// A world with one group, for scenarios of torture: on failure the world is NULL, or the caller's
// to destroy.
mf_Status try_group(mf_Context *context, const mf_WorldConfig *settings,
                    const mf_GroupConfig *config, mf_World **world, mf_Group **group,
                    mf_Error *error);

// A field of a group; the test fails where there is none of this name.
mf_Field *field_of(mf_Group *group, const char *name);

// One number of a field.
double get_field(mf_Group *group, const char *name, uint32_t instance, uint32_t component);
void set_field(mf_Group *group, const char *name, uint32_t instance, uint32_t component,
               double value);

// A snapshot of the world, as it can be restored; the caller frees it.
void *take_snapshot(const mf_World *world, size_t *size);

// From a snapshot taken now, so many steps give the same bits once more.
void assert_continues(mf_World *world, uint64_t steps);

// Uniform in [-1, 1), the n-th number of a stream.
double random_signed(uint32_t stream, uint64_t n);

// The other one, which is alike, goes on from a snapshot of the first to the same bits.
void assert_continues_in(mf_World *other, mf_World *world, uint64_t steps);

// What a run gives, as a hash, is the same for any number of threads and on every instruction set.
typedef uint64_t (*HashOfRun)(const void *user, uint32_t threads, mf_Isa isa);
void assert_same_bits(HashOfRun run, const void *user);

// What follows is done with each instruction set of this machine.
#define FOR_EACH_ISA(isa)                                                                          \
    for (mf_Isa isa = MF_ISA_SCALAR; isa <= MF_ISA_AVX512; isa = (mf_Isa)(isa + 1))                \
        if (mf_isa_available(isa))
