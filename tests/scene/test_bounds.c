// The key contact.bounds: the tests of a shipped scene change with the volumes, and no bit of its
// world does.
#include "scene/support.h"

GROUP_FIXTURE(make_context, drop_context);

TEST(the_key_changes_counts_alone) {
    static const char *const names[] = {"sphere", "box", "oriented", "none"};
    mf_CollisionsStatistics seen[4];
    uint64_t hash[4];
    for (uint32_t k = 0; k < 4; k++) {
        const mf_Override bounds = {"contact.bounds", names[k]};
        AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/atron_cars.yaml", &bounds, 1);
        assert_int_equal(scene.file->contact_bounds, k);
        mf_world_step(scene.world, 40);
        seen[k] = mf_collisions_statistics(scene.collisions);
        hash[k] = mf_world_hash(scene.world);
        assert_true(hash[k] == hash[0] && seen[k].contacts == seen[0].contacts);
        assert_int_equal(seen[k].steps, 40);
    }
    assert_true(seen[0].bound_tests > 0 && seen[3].bound_tests == 0);
    assert_true(seen[3].shape_tests > seen[0].shape_tests);
    assert_true(seen[2].bound_tests < seen[0].bound_tests);
}
