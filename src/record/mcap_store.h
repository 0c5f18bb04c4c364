// What an MCAP recording writes: numbers of fields as messages of Mayfly's own (mcap_store.c), and
// what Foxglove's panels show (mcap_scene.c): poses, shapes, joints, pictures of cameras.
#pragma once

#include "record/mcap.h"
#include "record/recorder.h"
#include "visual/visual.h"

enum { MF_MCAP_NAME = 160 }; // [byte] of a topic or frame

// The robots of one group whose poses, joints and pictures are written.
typedef struct mf_McapGroup {
    mf_Group *group;
    mf_Visual visual;
    uint32_t robots;  // [1] the first ones
    uint32_t talkers; // [1] those of them with topics of their own
    uint32_t *joints; // [1] channels of their joint states; NULL: nothing turns
    uint32_t cameras; // [1] channels of pictures: color and depth, camera by camera
    uint32_t *images; // [1] talkers * 2 * cameras; MF_NONE: no such pictures
    char **shown;     // the last picture of each image
    float color[3];   // [1] of the group, for what is colored; color[0] < 0: none
    uint32_t soft;    // [1] channel of what changes its shape (mcap_soft.c); MF_NONE: nothing does
    uint32_t bodies;  // [1] of these, the first ones that are shown
    void *scratch;    // for one sample of them
} mf_McapGroup;

typedef struct mf_McapStore {
    mf_Mcap file;
    mf_Text message;
    uint32_t *channels; // [1] per group, then run-time joints and the picture: their fields
    mf_McapGroup *groups;
    uint32_t group_count;        // [1]
    uint32_t transforms;         // [1] channel
    uint32_t drawings, records;  // [1] channels of what programs draw
    uint64_t drawn_serial;       // of the last change that is written
    double *position, *rotation; // [m], [1] of a robot's links
} mf_McapStore;

// A name for files, topics and messages: letters, digits and '_' of `from`.
void mf_mcap_plain_name(const char *from, char out[MF_MCAP_NAME]);

// The color of a shape, or of what has none of its own, in this group.
void mf_mcap_color(const mf_McapGroup *part, const float own[3], float out[3]);

// Particles, bars and surfaces: the channel, with the schema of a scene or that of a cloud, and
// memory (false: there was none); then a message per sample.
bool mf_mcap_soft_begin(mf_Recorder *recorder, mf_McapGroup *part, uint32_t scene, uint32_t cloud);
void mf_mcap_soft_sample(mf_Recorder *recorder, const mf_McapGroup *part, mf_Time time);

// What programs draw (mcap_draw.c): as entities for panels, and as records for mayfly view.
void mf_mcap_draw_begin(mf_Recorder *recorder, uint32_t scene);
void mf_mcap_draw_sample(mf_Recorder *recorder, mf_Time time);

// The frame of a link of a robot.
enum { MF_MCAP_FRAME = 2 * MF_MCAP_NAME + 32 };
void mf_mcap_link_frame(const mf_Group *group, uint32_t robot, uint32_t link,
                        char out[MF_MCAP_FRAME]);

// Channels of what panels show; then the shapes, once, and a sample of all others.
mf_Status mf_mcap_scene_begin(mf_Recorder *recorder, mf_Error *error);
void mf_mcap_scene_sample(mf_Recorder *recorder, mf_Time time);
void mf_mcap_scene_free(mf_Recorder *recorder);
