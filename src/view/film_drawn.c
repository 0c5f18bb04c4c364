// Films and what programs draw (visual/draw.h): changes go into a log, each with the film's time of
// the sample that shows it first.
#include "view/film.h"
#include "visual/draw.h"

#include <string.h>

#define LOG_MOST ((size_t)64 << 20) // [byte] of a film

static float number_of(const void *film, const mf_Group *group, uint32_t robot) {
    return mf_film_number(film, group, robot);
}

size_t mf_film_drawn(const mf_Film *film, uint64_t since, void *out, size_t capacity,
                     uint64_t *last) {
    return mf_draw_pack(film->world, since, number_of, film, out, capacity, last);
}

// The record at `at` of a log of so many bytes. False: what is there is none.
static bool read_record(const uint8_t *log, size_t size, size_t at, mf_DrawnRecord *out) {
    if (size - at < sizeof *out)
        return false;
    memcpy(out, log + at, sizeof *out);
    const size_t least =
        sizeof *out + (size_t)out->count * 4 + (size_t)out->name_size + out->text_size;
    return out->size >= least && out->size <= size - at && out->size % 8 == 0;
}

// Appends the layers among these records, at time `time` or, < 0, later than `begin` as they are.
static void append(mf_Text *log, const uint8_t *records, size_t size, double time, double begin) {
    mf_DrawnRecord record;
    for (size_t at = 0; read_record(records, size, at, &record); at += record.size) {
        if (record.kind >= MF_DRAW_CONTROL)
            continue;
        record.time = time >= 0.0 ? time : record.time - begin;
        mf_text_put_bytes(log, (const char *)&record, sizeof record);
        mf_text_put_bytes(log, (const char *)records + at + sizeof record,
                          record.size - sizeof record);
    }
}

void mf_film_sample_drawn(mf_Film *film) {
    uint64_t last;
    if (film->live || film->drawn_until > 0.0)
        return;
    const size_t size = mf_film_drawn(film, film->drawn_serial, NULL, 0, &last);
    const double time = film->period * (film->calls - 1);
    uint8_t *records = NULL;
    if (size == 0)
        return;
    if (film->drawn.size + size <= LOG_MOST)
        records = mf_allocate(film->context, size, 1);
    if (records != NULL) {
        mf_film_drawn(film, film->drawn_serial, records, size, &film->drawn_serial);
        append(&film->drawn, records, size, time, 0.0);
    }
    if (records == NULL || film->drawn.failed)
        film->drawn_until = time > 0.0 ? time : film->period;
    film->drawn.failed = false; // what is in it is whole
    mf_release(film->context, records);
}

bool mf_film_take_drawn(mf_Film *film, const uint8_t *records, size_t size, double begin) {
    append(&film->drawn, records, size, -1.0, begin);
    return !film->drawn.failed;
}

void mf_film_put_drawn(mf_Text *text, const mf_Film *film) {
    if (film->drawn.size == 0)
        return;
    mf_text_put(text, "<script id=\"drawn\" type=\"text/plain\">");
    mf_film_put_deflated(text, (const uint8_t *)film->drawn.data, film->drawn.size);
    mf_text_put(text, "</script>\n");
}
