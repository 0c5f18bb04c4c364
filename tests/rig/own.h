// Things that end with their block. AUTO(close) before a variable calls close(&variable) where its
// block is left, the last declared first; AUTO_MODEL *model is a model that is destroyed there.
// (A test that fails is left at once, and closes nothing.)
#pragma once

#include <stdlib.h>

#include <mayfly/mayfly.h>

#include "body/compare.h"
#include "rig/context.h"

#define AUTO(close) __attribute__((cleanup(close)))

#define MF_RIG_END(name, Type, destroy)                                                            \
    static inline void end_##name(Type **pointer) {                                                \
        destroy(*pointer);                                                                         \
    }
MF_RIG_END(context, mf_Context, close_context)
MF_RIG_END(model, mf_Model, mf_model_destroy)
MF_RIG_END(world, mf_World, mf_world_destroy)
MF_RIG_END(terrain, mf_Terrain, mf_terrain_destroy)
MF_RIG_END(scene_file, mf_SceneFile, mf_scene_file_destroy)
MF_RIG_END(search, mf_Search, mf_search_destroy)
MF_RIG_END(archive, mf_Archive, mf_archive_close)
MF_RIG_END(plugin, mf_Plugin, mf_plugin_close)
MF_RIG_END(comparison, mf_Comparison, mf_comparison_destroy)
MF_RIG_END(builder, mf_Builder, mf_builder_destroy)
MF_RIG_END(scene, mf_Scene, mf_scene_close)
MF_RIG_END(environment, mf_Environment, mf_environment_destroy)
MF_RIG_END(film, mf_Film, mf_film_destroy)
MF_RIG_END(client, mf_Client, mf_client_close)
MF_RIG_END(gait, mf_Gait, mf_gait_destroy)
#undef MF_RIG_END

#define AUTO_CONTEXT AUTO(end_context) mf_Context
#define AUTO_MODEL AUTO(end_model) mf_Model
#define AUTO_WORLD AUTO(end_world) mf_World
#define AUTO_TERRAIN AUTO(end_terrain) mf_Terrain
#define AUTO_SCENE_FILE AUTO(end_scene_file) mf_SceneFile
#define AUTO_SEARCH AUTO(end_search) mf_Search
#define AUTO_ARCHIVE AUTO(end_archive) mf_Archive
#define AUTO_PLUGIN AUTO(end_plugin) mf_Plugin
#define AUTO_COMPARISON AUTO(end_comparison) mf_Comparison
#define AUTO_BUILDER AUTO(end_builder) mf_Builder
#define AUTO_ENVIRONMENT AUTO(end_environment) mf_Environment
#define AUTO_FILM AUTO(end_film) mf_Film
#define AUTO_CLIENT AUTO(end_client) mf_Client
#define AUTO_GAIT AUTO(end_gait) mf_Gait

// A scene that is no pointer.
#define AUTO_SCENE AUTO(mf_scene_destroy) mf_Scene

// What a file of tests stands on, where its type and its function have these names.
#define AUTO_RIG AUTO(rig_close) Rig
#define AUTO_FIXTURE AUTO(fixture_close) Fixture
#define AUTO_PITCH AUTO(pitch_close) Pitch

// For what malloc gave: AUTO(end_memory) char *text.
static inline void end_memory(void *pointer) {
    free(*(void **)pointer);
}
