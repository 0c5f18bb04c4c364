#include "rig/rig.h"

void explain_difference(mf_Group *one, uint32_t i, mf_Group *other, uint32_t k) {
    for (uint32_t f = 0; f < mf_group_field_count(one); f++) {
        mf_Field *x = mf_group_field(one, f), *y = mf_group_field(other, f);
        for (uint32_t c = 0; c < x->components; c++) {
            double p = mf_field_get(x, i, c), q = mf_field_get(y, k, c);
            if (memcmp(&p, &q, sizeof p) != 0)
                print_error("  %s[%u]: %.17g, %.17g\n", x->info.name, c, p, q);
        }
    }
}

void check_others_same(mf_Group *one, mf_Group *other, uint32_t but, const char *file, int line) {
    for (uint32_t i = 0; i < mf_group_count(one); i++)
        if (i != but && mf_group_instance_hash(one, i) != mf_group_instance_hash(other, i)) {
            explain_difference(one, i, other, i);
            fail_msg("%s:%d: instance %u differs", file, line, i);
        }
}
