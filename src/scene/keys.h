// Tables of keys of scenes. One row defines a key; reading, checking, overriding, writing, help,
// the reference page and the schema for editors are derived from it.
#pragma once

#include "io/keys.h"

#include <mayfly/scene.h>

// A value of ground.shape after mf_TerrainShape: the ground of the models.
#define MF_GROUND_OF_MODELS 5

// Values of `motion` of a group after mf_Motion.
enum { MF_MOTION_NAME_AUTO = MF_MOTION_COUNT, MF_MOTION_NAME_OWN };

// Values of `switch.to` after the levels of mf_Motion.
enum { MF_SWITCH_NAME_OWN = MF_MOTION_LEVELS, MF_SWITCH_NAME_QUASISTATIC, MF_SWITCH_NAME_ELASTIC };

const mf_KeyTable *mf_scene_table(void);
extern const mf_KeyTable mf_scene_group_table;  // of the entries of `groups`
extern const mf_KeyTable mf_scene_joint_table;  // of the entries of `joints`
extern const mf_KeyTable mf_scene_camera_table; // of the entries of `cameras`
extern const mf_KeyTable mf_scene_script_table; // of the entries of `scripts`
extern const mf_KeyTable mf_scene_bridge_table; // of the entries of `bridges`

// Rows of modular robots (modules/keys.c): of scenes, then of groups.
extern const mf_KeyPart mf_scene_module_keys, mf_scene_message_keys;
extern const mf_KeyPart mf_scene_chain_keys, mf_scene_policy_keys;

// The motion of a name; MF_MOTION_NAME_AUTO gives `automatic`.
mf_Motion mf_motion_of_name(int name, mf_Motion automatic);
int mf_name_of_motion(mf_Motion motion);
mf_Motion mf_motion_of_switch(int name);

const char *mf_measure_name(mf_Measure measure); // "duty"
