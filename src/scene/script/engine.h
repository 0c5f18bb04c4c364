// Internals of scripts: one state of Lua per script, its limits, and what its functions share.
#pragma once

#include "base/text.h"
#include "scene/scene_file.h"
#include "scene/script/script.h"
#include "world/between.h"

#include <mayfly/draw.h>

#include <lauxlib.h>
#include <lua.h>

#define MF_SCRIPT_CHARGE 64u  // [byte] of new memory that count as one instruction
#define MF_SCRIPT_RESULTS 64u // [1] most results of all scripts
#define MF_SCRIPT_NAME 64u    // [byte] of a result's name with its terminator

// What ended a call and cannot be caught by pcall.
typedef enum mf_ScriptEnd {
    MF_SCRIPT_GOES_ON,
    MF_SCRIPT_OUT_OF_BUDGET,
    MF_SCRIPT_OUT_OF_MEMORY,
    MF_SCRIPT_OUT_OF_TIME
} mf_ScriptEnd;

// Functions of a script that are called.
typedef enum mf_ScriptHook {
    MF_SCRIPT_START,
    MF_SCRIPT_TICK,
    MF_SCRIPT_EVENT,
    MF_SCRIPT_FINISH,
    MF_SCRIPT_HOOKS
} mf_ScriptHook;

typedef struct mf_Scripts mf_Scripts;

typedef struct mf_Script {
    mf_Scripts *all;
    const mf_SceneScript *from;
    uint32_t index; // [1] in the file
    mf_Text text;   // its source
    lua_State *lua;
    int hooks[MF_SCRIPT_HOOKS]; // references; LUA_NOREF: it has none
    char chunk[LUA_IDSIZE];     // name by which Lua's messages begin
    size_t used, limit;         // [byte] of memory
    uint64_t spent, budget;     // [1] instructions of this call
    int64_t begun;              // [ns] of the wall clock
    mf_ScriptEnd end;
    int line;                       // [1] of the last error; 0: unknown
    uint64_t draws;                 // [1] random numbers so far
    int controls[MF_DRAW_CONTROLS]; // references of functions; LUA_NOREF: without
    uint32_t control_count;
    int *policies;          // per group: reference of what robots.c calls for each robot; LUA_NOREF
    struct mf_Watch *watch; // NULL: it has no function `event`
    bool renewed;           // the world was restored: what is now there is no event
} mf_Script;

typedef struct mf_ScriptText {
    char name[MF_SCRIPT_NAME];
    mf_Text text;
    uint32_t columns; // [1] of a table; 0: no table
    const mf_Script *owner;
} mf_ScriptText;

// Robots whose state a script wrote, until their groups have recomputed derived values.
typedef struct mf_ScriptDirt {
    mf_Group *group;
    uint8_t *marked;  // per robot
    uint32_t *robots; // the marked ones
    uint32_t count;   // [1] of them
} mf_ScriptDirt;

struct mf_Scripts {
    mf_BetweenSteps between; // first
    mf_Context *context;
    mf_Scene scene; // a copy: the program may move its own
    mf_ScriptPrintFn print;
    void *print_user;
    uint32_t count; // [1]
    mf_Script *list;
    mf_ScriptDirt *dirt; // per group
    uint32_t dirty;      // [1] marked robots of all groups
    bool started;
    mf_Status status; // not MF_OK: one has failed, and none is called any more
    mf_Error error;   // why
    uint64_t steps;   // [1] of the world in this call of mf_scene_step
    bool called;      // the scripts ran at this point of the run
    mf_Time time;     // [ns] of the world then
    bool stopped;
    bool left; // the world goes on without them
    char reason[160];
    mf_ScriptText results[MF_SCRIPT_RESULTS];
    uint32_t result_count; // [1]
};

// ---- engine.c -----------------------------------------------------------------------------------

// The script of a state.
mf_Script *mf_script_of(lua_State *lua);
// Fills the text from the scene or its file.
mf_Status mf_script_read(mf_Script *script, mf_Error *error);
// Makes the state, with all functions, and compiles the text.
mf_Status mf_script_load(mf_Script *script, mf_Error *error);
// Calls the function below its `arguments` on the stack, which are removed. `what` is for messages.
mf_Status mf_script_call(mf_Script *script, const char *what, int arguments, mf_Error *error);
// Puts a function of the script on the stack; false: it has none. Never allocates, so that it may
// be used outside of calls.
bool mf_script_find(const mf_Script *script, mf_ScriptHook hook);
// Notes the functions that the script has defined.
mf_Status mf_script_find_all(mf_Script *script, mf_Error *error);
// Adds to the instructions of this call the work that a function of ours does in one; raises an
// error of Lua when the budget is used up.
void mf_script_charge(mf_Script *script, uint64_t count);
// Raises the error that is on the stack or, after `end`, one that cannot be caught.
int mf_script_raise(lua_State *lua, const mf_Error *error);

// ---- functions, each file adding its own to a new state -----------------------------------------

void mf_script_add_language(lua_State *lua);   // sandbox.c: what is left of Lua's own
void mf_script_add_world(lua_State *lua);      // world.c
void mf_script_add_properties(lua_State *lua); // properties.c, used by `world`
void mf_script_add_results(lua_State *lua);    // results.c
void mf_script_add_draw(lua_State *lua);       // draw.c
void mf_script_add_robots(lua_State *lua);     // robots.c, used by `world`

int mf_script_property(lua_State *lua);   // world:property
int mf_script_get(lua_State *lua);        // world:get
int mf_script_set(lua_State *lua);        // world:set
int mf_script_connect(lua_State *lua);    // world:connect
int mf_script_disconnect(lua_State *lua); // world:disconnect
int mf_script_robot(lua_State *lua);      // world:robot
int mf_script_policy(lua_State *lua);     // world:policy

typedef struct mf_ScriptRobots {
    mf_Group *group;
    uint32_t first, end; // [1]
} mf_ScriptRobots;
// The group and the robot of it that arguments name, or all robots without one; numbers from 0, as
// in paths.
mf_ScriptRobots mf_script_robots(lua_State *lua, int argument);

// Recomputes the derived values of the robots whose state was written.
void mf_script_clean(mf_Scripts *scripts);
void mf_script_forget(mf_Scripts *scripts); // the same robots, of a world that was restored

// ---- draw.c -------------------------------------------------------------------------------------

// Calls the functions of controls that people have changed.
mf_Status mf_script_tell_controls(mf_Script *script, mf_Error *error);

// ---- robots.c -----------------------------------------------------------------------------------

// Calls the policies of the script, robot by robot.
mf_Status mf_script_call_policies(mf_Script *script, mf_Error *error);

// ---- events.c -----------------------------------------------------------------------------------

mf_Status mf_script_watch(mf_Script *script, mf_Error *error);
// Calls `event` for everything that happened since the last call.
mf_Status mf_script_notify(mf_Script *script, mf_Error *error);
