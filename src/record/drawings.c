// What programs draw (visual/draw.h), for recordings: the records of layers that changed since the
// last sample, in the memory of the recorder until the store writes them.
#include "record/recorder.h"
#include "visual/draw.h"

#include <string.h>

bool mf_recorder_take_drawings(mf_Recorder *recorder) {
    const mf_RecorderPicture *picture = &recorder->picture;
    uint64_t last;
    const size_t size = picture->take != NULL && picture->drawn != NULL
                            ? picture->drawn(recorder->drawn_serial, NULL, 0, &last, picture->user)
                            : 0;
    if (size == 0)
        return true;
    char *records = mf_allocate(recorder->context, size, 1);
    if (records == NULL)
        return false;
    picture->drawn(recorder->drawn_serial, records, size, &recorder->drawn_serial, picture->user);
    mf_DrawnRecord head;
    for (size_t at = 0; at < size; at += head.size) {
        memcpy(&head, records + at, sizeof head);
        if (head.kind < MF_DRAW_CONTROL)
            mf_text_put_bytes(&recorder->drawn, records + at, head.size);
    }
    mf_release(recorder->context, records);
    return !recorder->drawn.failed;
}
