// Flat images: one block of memory that holds a structure and, behind it, its arrays. Instead of
// pointers the structure holds byte offsets from its own start, so the block can be copied, moved
// or stored unchanged. Plans of kernels are flat images.
//
//   typedef struct Plan {
//       uint32_t bytes;        // [byte] of the image
//       uint32_t link_count;
//       MF_FLAT_ARRAY(links);  // Link, link_count
//   } Plan;
//   MF_FLAT_READER(Plan, plan, Link, links) // const Link *plan_links(const Plan *)
#pragma once

#include <mayfly/base.h>

enum { MF_FLAT_ALIGNMENT = 64 }; // [byte] of an image and of every array in it

// A member of an image: the offset of an array.
#define MF_FLAT_ARRAY(name) uint32_t name##_at // [byte] from the start of the image; 0: no array

// Defines prefix_name(image), the array, and NULL where there is none.
#define MF_FLAT_READER(Image, prefix, Type, name)                                                  \
    static inline const Type *prefix##_##name(const Image *image) {                                \
        const char *block = (const char *)image;                                                   \
        return image->name##_at == 0 ? NULL                                                        \
                                     : (const Type *)(const void *)(block + image->name##_at);     \
    }

// As above, for an array that is only indexed: not NULL where there is none.
#define MF_FLAT_INDEXED(Image, prefix, Type, name)                                                 \
    static inline const Type *prefix##_##name(const Image *image) {                                \
        return (const Type *)(const void *)((const char *)image + image->name##_at);               \
    }

// A structure with several arrays names them once, in a list: a macro of (X, of), which calls
// X(Type, name, count) per array. `count` is an expression of the members of `of`, a pointer to the
// structure. The list makes the members of the image, the pointers of its draft, readers, parts.
//
//   #define PLAN_ARRAYS(X, of) X(Link, links, (of)->link_count) X(...)
//   typedef struct Plan { uint32_t bytes; uint32_t link_count; PLAN_ARRAYS(MF_FLAT_MEMBER, ) }
//   Plan; typedef struct Draft { Plan plan; PLAN_ARRAYS(MF_FLAT_POINTER, ) } Draft;
#define MF_FLAT_MEMBER(Type, name, count) MF_FLAT_ARRAY(name);
#define MF_FLAT_POINTER(Type, name, count) Type *name;

// For those who write into an image: the array that begins `at` bytes from its beginning, NULL for
// 0.
static inline void *mf_flat_at(void *image, uint32_t at) {
    return at == 0 ? NULL : (char *)image + at;
}

// One array of an image.
typedef struct mf_FlatPart {
    uint32_t *at;     // the offset member in the structure that is packed
    const void *data; // NULL: no array, *at becomes 0
    size_t bytes;     // [byte]; 0: no array
} mf_FlatPart;

// MF_FLAT_PART(draft, links, links, link_count): `count` elements of the array `data`.
#define MF_FLAT_PART(structure, name, data, count)                                                 \
    { &(structure)->name##_at, (data), sizeof *(data) * (size_t)(count) }

// MF_FLAT_IMAGE(structure, name, image): another image, NULL: none. It can be read where it is.
#define MF_FLAT_IMAGE(structure, name, image)                                                      \
    { &(structure)->name##_at, (image), (image) == NULL ? 0 : (image)->bytes }

// Copies `structure`, whose first member is the uint32_t size of the image, and its arrays into one
// block from mf_allocate; the caller releases *out with mf_release. Also sets the size and the
// offsets in `structure` itself. MF_NO_MEMORY, MF_LIMIT: 4 GiB or more.
mf_Status mf_flat_pack(mf_Context *context, void *structure, size_t bytes, const mf_FlatPart *parts,
                       uint32_t part_count, void **out, mf_Error *error);
