// Noise of a picture: four values share the words of one draw.
#include "camera/picture.h"

#include "math/lane_random.h"

void MF_KERNEL(mf_noise_add)(float *values, size_t count, const mf_PhotoNoise *noise) {
    const mf_lane sigma = mf_set(noise->sigma);
    MF_ALIGNED(64) mf_real normal[4][MF_LANES];
    for (size_t first = 0; first < count; first += 4 * MF_LANES) {
        mf_lane drawn[4];
        mf_normal_lanes(noise->seed, (uint32_t)(first / 4), noise->stream, noise->tick, drawn);
        for (int k = 0; k < 4; k++)
            mf_store(normal[k], drawn[k] * sigma);
        const size_t left = count - first, some = left < 4 * MF_LANES ? left : 4 * MF_LANES;
        for (size_t i = 0; i < some; i++)
            values[first + i] += normal[i % 4][i / 4];
    }
}
