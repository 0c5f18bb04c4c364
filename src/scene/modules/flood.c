// Floods: each module sends what it knows to its neighbors in every tick, so after k ticks all
// within k hops know it (flooding; Lynch 1996, "Distributed Algorithms", 4.1).
//
// When a dock engages or parts, what was known may be wrong. So knowledge has an epoch: a module
// that notices a change begins the next one with its own knowledge only, the newer epoch replaces
// older ones wherever it arrives, and older messages are dropped. All is right again twice the
// diameter after a change: the news spreads, then the knowledge.
#include "scene/modules/policies.h"

bool mf_policy_is_engaged(const mf_Policy *policy, uint32_t dock) {
    return mf_policy_percept(policy, MF_POLICY_DOCK_STATE, dock) == (double)MF_DOCK_ENGAGED;
}

void mf_policy_tell(mf_Policy *policy, const mf_Message *message) {
    for (uint32_t d = 0; d < mf_policy_docks(policy); d++)
        if (mf_policy_is_engaged(policy, d))
            mf_policy_send(policy, d, message);
}

// The engaged docks as a number: bits, modulo 2^32.
static double engaged_docks(const mf_Policy *policy) {
    uint32_t bits = 0;
    for (uint32_t d = 0; d < mf_policy_docks(policy); d++)
        if (mf_policy_is_engaged(policy, d))
            bits ^= UINT32_C(1) << d % 32;
    return bits;
}

bool mf_flood_begin(mf_Policy *policy) {
    const double docks = engaged_docks(policy);
    const bool begun = mf_policy_memory(policy, MF_FLOOD_BEGUN) != 0.0;
    if (begun && docks == mf_policy_memory(policy, MF_FLOOD_DOCKS))
        return false;
    mf_policy_set_memory(policy, MF_FLOOD_BEGUN, 1.0);
    mf_policy_set_memory(policy, MF_FLOOD_DOCKS, docks);
    mf_policy_set_memory(policy, MF_FLOOD_EPOCH,
                         begun ? mf_policy_memory(policy, MF_FLOOD_EPOCH) + 1.0 : 1.0);
    return true;
}

int mf_flood_hear(mf_Policy *policy, const mf_Message *message) {
    const double own = mf_policy_memory(policy, MF_FLOOD_EPOCH), other = message->content.words[0];
    if (other > own)
        mf_policy_set_memory(policy, MF_FLOOD_EPOCH, other);
    return other > own ? 1 : other < own ? -1 : 0;
}

void mf_flood_send(mf_Policy *policy, mf_Message *message) {
    message->content.words[0] = (uint32_t)mf_policy_memory(policy, MF_FLOOD_EPOCH);
    mf_policy_tell(policy, message);
}
