// What a GPU's compiler does not bring: the functions of <string.h> that kernels call. Random numbers
// are those of base/random.c, compiled for the device as they stand.
//
// Not replaced by calls of themselves: no_builtin.
#define MF_DEVICE extern "C" __attribute__((device, no_builtin))

MF_DEVICE void *memcpy(void *to, const void *from, size_t size) {
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
    return to;
}

MF_DEVICE void *memset(void *to, int value, size_t size) {
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)to)[i] = (unsigned char)value;
    return to;
}

MF_DEVICE int memcmp(const void *a, const void *b, size_t size) {
    for (size_t i = 0; i < size; i++) {
        const int apart = ((const unsigned char *)a)[i] - ((const unsigned char *)b)[i];
        if (apart != 0)
            return apart;
    }
    return 0;
}
