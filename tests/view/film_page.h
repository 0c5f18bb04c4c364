// Reads the pages of films back: what web/src/pack.ts and web/src/poses.ts do, in C. Include it
// after cmocka.h.
#pragma once

#include <jansson.h>
#include <math.h>
#include <mayfly/base.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "math/scalar.h"

typedef struct FilmPage {
    char *text;
    json_t *film;
    float *poses; // frame by frame, 7 numbers of each link
} FilmPage;

// The text of the page's element of that id. Released with free.
static inline char *element(const char *page, const char *id) {
    char mark[64];
    snprintf(mark, sizeof mark, "<script id=\"%s\"", id);
    const char *start = strstr(page, mark);
    assert_non_null(start);
    start = strchr(start, '>') + 1;
    const char *end = strstr(start, "</script>");
    assert_non_null(end);
    return strndup(start, (size_t)(end - start));
}

static inline uint32_t digit(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digits, c);
    assert_true(at != NULL && c != '\0');
    return (uint32_t)(at - digits);
}

// Bytes of Base64. Released with free.
static inline uint8_t *decode(const char *base64, size_t *size) {
    const size_t length = strlen(base64);
    uint8_t *bytes = calloc(length + 4, 1);
    assert_non_null(bytes);
    assert_int_equal(length % 4, 0);
    *size = 0;
    for (size_t i = 0; i < length; i += 4) {
        uint32_t word = 0;
        for (size_t k = 0; k < 4; k++)
            word = word << 6 | (base64[i + k] == '=' ? 0 : digit(base64[i + k]));
        for (size_t k = 0; k < 3 && base64[i + k + 1] != '='; k++)
            bytes[(*size)++] = (uint8_t)(word >> (16 - 8 * k));
    }
    return bytes;
}

static inline float *floats(const char *base64, size_t count) {
    size_t size;
    uint8_t *bytes = decode(base64, &size);
    assert_int_equal(size, 4 * count);
    return (float *)bytes;
}

// The whole numbers of a script, column by column. Released with free.
static inline int32_t *unpack(const char *page, const char *id, size_t columns, size_t frames) {
    size_t packed;
    char *text = element(page, id);
    uint8_t *bytes = decode(text, &packed);
    const size_t count = columns * frames;
    uint8_t *planes = calloc(4 * count + 1, 1);
    uint32_t *out = calloc(count + 1, sizeof *out);
    uLongf size = 4 * count + 1;
    assert_true(planes != NULL && out != NULL);
    assert_int_equal(uncompress(planes, &size, bytes, packed), Z_OK);
    assert_int_equal(size, 4 * count);
    for (size_t i = 0; i < count; i++) {
        uint32_t folded = 0;
        for (uint32_t plane = 0; plane < 4; plane++)
            folded |= (uint32_t)planes[plane * count + i] << (8 * plane);
        const uint32_t rest = folded >> 1 ^ (0u - (folded & 1)), s = (uint32_t)(i % frames);
        const uint32_t last = s > 0 ? out[i - 1] : 0, before = s > 1 ? out[i - 2] : last;
        out[i] = rest + 2 * last - before;
    }
    free(text);
    free(bytes);
    free(planes);
    return (int32_t *)out;
}

// Rows of floats. Released with free.
static inline float *unpack_rows(const char *page, const char *id, size_t columns, size_t frames) {
    int32_t *bits = unpack(page, id, columns, frames);
    float *rows = calloc(columns * frames + 1, sizeof *rows);
    for (size_t c = 0; c < columns; c++)
        for (size_t s = 0; s < frames; s++)
            memcpy(&rows[s * columns + c], &bits[c * frames + s], sizeof *rows);
    free(bits);
    return rows;
}

static inline long number(const FilmPage *page, const char *name) {
    return (long)json_integer_value(json_object_get(page->film, name));
}

// What the page says of the group of that number.
static inline json_t *cast_of(const FilmPage *page, size_t index) {
    json_t *cast = json_array_get(json_object_get(page->film, "casts"), index);
    assert_non_null(cast);
    return cast;
}

static inline size_t count_of(json_t *cast, const char *name) {
    return (size_t)json_integer_value(json_object_get(cast, name));
}

static inline size_t poses_each(const FilmPage *page) {
    size_t sum = 0;
    for (size_t i = 0; i < json_array_size(json_object_get(page->film, "casts")); i++)
        sum += count_of(cast_of(page, i), "links") * count_of(cast_of(page, i), "robots");
    return sum;
}

// From the columns of a link in one frame, and, for a link that a joint moves, the parent's pose.
static inline void pose_from(const int32_t *columns, size_t frames, json_t *track,
                             const float *parent, float *pose) {
    double position[3], vector[3], axis[3], rotation[4], joint[4], above[4], sum[4], moved[3];
    for (size_t c = 0; c < 3; c++) {
        position[c] = columns[c * frames] / 16384.0;
        vector[c] = columns[(3 + c) * frames] / 4096.0;
    }
    const double angle = mf_vec3_length(vector);
    for (int c = 0; c < 3; c++)
        axis[c] = angle > 0.0 ? vector[c] / angle : c == 0;
    mf_quat_from_axis_angle(rotation, axis, angle);
    if (parent != NULL) {
        for (size_t c = 0; c < 4; c++) {
            joint[c] = json_number_value(json_array_get(json_object_get(track, "turn"), c));
            above[c] = (double)parent[3 + c];
        }
        mf_quat_rotate(moved, above, position);
        mf_quat_multiply(sum, above, joint);
        mf_quat_multiply(joint, sum, rotation);
    }
    for (int c = 0; c < 4; c++)
        pose[3 + c] = (float)(parent != NULL ? joint[c] : rotation[c]);
    for (int c = 0; c < 3; c++)
        pose[c] = columns[(size_t)c * frames] == 1 << 30 ? NAN
                  : parent == NULL                       ? (float)position[c]
                                                         : parent[c] + (float)moved[c];
}

static inline float *unpack_poses(const FilmPage *page) {
    const size_t each = poses_each(page), frames = (size_t)number(page, "frames");
    int32_t *columns = unpack(page->text, "poses", 6 * each, frames);
    float *poses = calloc(7 * each * frames + 1, sizeof *poses);
    size_t link = 0;
    for (size_t i = 0; i < json_array_size(json_object_get(page->film, "casts")); i++) {
        json_t *cast = cast_of(page, i), *tracks = json_object_get(cast, "tracks");
        const size_t links = count_of(cast, "links");
        for (size_t n = 0; n < links * count_of(cast, "robots"); n++, link++) {
            json_t *track = json_array_get(tracks, n % links);
            const long parent = (long)json_integer_value(json_object_get(track, "parent"));
            for (size_t s = 0; s < frames; s++) {
                float *row = poses + 7 * each * s;
                const float *above =
                    row + 7 * (link - n % links + (size_t)(parent < 0 ? 0 : parent));
                pose_from(columns + 6 * link * frames + s, frames, track,
                          track == NULL || parent < 0 ? NULL : above, row + 7 * link);
            }
        }
    }
    free(columns);
    return poses;
}

static inline FilmPage open_page(const char *path) {
    FilmPage page = {0};
    page.text = file_get(path, NULL);
    char *film = element(page.text, "film");
    page.film = json_loads(film, 0, NULL);
    assert_non_null(page.film);
    page.poses = unpack_poses(&page);
    free(film);
    return page;
}

static inline void close_page(FilmPage *page) {
    json_decref(page->film);
    free(page->poses);
    free(page->text);
}
