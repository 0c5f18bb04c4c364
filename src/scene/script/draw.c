// `draw` and `control` in scripts: layers of the picture, and sliders, buttons and checkboxes of
// the page (mayfly/draw.h). Each script has its own.
#include "scene/script/engine.h"
#include "visual/draw.h"

#include "math/scalar.h"

#include <mayfly/model_fields.h>

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 2 }; // tables in a list of positions

static mf_World *world_of(lua_State *lua) {
    return mf_script_of(lua)->all->scene.world;
}

static uint32_t owner_of(lua_State *lua) {
    return UINT32_MAX - mf_script_of(lua)->index; // connections count from 1 up
}

// ---- arguments ----------------------------------------------------------------------------------

// The member of the table at 1, or "" and NULL where `optional`.
static const char *text_of(lua_State *lua, const char *name, bool optional) {
    lua_getfield(lua, 1, name); // stays on the stack, so that the text lives
    if (optional && lua_isnil(lua, -1))
        return NULL;
    if (!lua_isstring(lua, -1))
        luaL_error(lua, "draw: expected a text `%s`", name);
    return lua_tostring(lua, -1);
}

static double number_of(lua_State *lua, const char *name, double missing) {
    lua_getfield(lua, 1, name);
    const double value = lua_isnil(lua, -1) ? missing : lua_tonumber(lua, -1);
    if (!lua_isnil(lua, -1) && !lua_isnumber(lua, -1))
        luaL_error(lua, "draw: expected a number `%s`", name);
    lua_pop(lua, 1);
    return value;
}

// "#rrggbb" or "#rrggbbaa".
static uint32_t color_of(lua_State *lua) {
    const char *text = text_of(lua, "color", true);
    if (text == NULL)
        return 0;
    char *end;
    const size_t length = strlen(text);
    const unsigned long value = length > 1 ? strtoul(text + 1, &end, 16) : 0;
    if (text[0] != '#' || (length != 7 && length != 9) || *end != '\0' ||
        strspn(text + 1, "0123456789abcdefABCDEF") != length - 1)
        luaL_error(lua, "draw: expected a color '#rrggbb' or '#rrggbbaa', found '%s'", text);
    return (uint32_t)(length == 7 ? value << 8 | 0xff : value);
}

// [1] Numbers of the list on the top, and of lists in it; `out` NULL counts.
static size_t read_list(lua_State *lua, float *out, int deep) {
    const size_t length = lua_rawlen(lua, -1);
    size_t count = 0;
    luaL_checkstack(lua, 4, NULL);
    mf_script_charge(mf_script_of(lua), length);
    for (size_t i = 1; i <= length; i++) {
        lua_rawgeti(lua, -1, (lua_Integer)i);
        if (lua_istable(lua, -1) && deep < DEEPEST)
            count += read_list(lua, out != NULL ? out + count : NULL, deep + 1);
        else if (!lua_isnumber(lua, -1))
            luaL_error(lua, "draw: expected numbers or lists of numbers, found a %s",
                       luaL_typename(lua, -1));
        else if (out != NULL)
            out[count++] = (float)lua_tonumber(lua, -1);
        else
            count++;
        lua_pop(lua, 1);
    }
    return count;
}

// The numbers of a member, in memory of Lua that stays on the stack.
static float *list_of(lua_State *lua, const char *name, size_t more, uint32_t *count) {
    lua_getfield(lua, 1, name);
    if (!lua_istable(lua, -1))
        luaL_error(lua, "draw: expected a list of numbers `%s`", name);
    const size_t length = read_list(lua, NULL, 1);
    if (length + more > MF_DRAW_NUMBERS)
        luaL_error(lua, "draw: expected at most %d numbers", MF_DRAW_NUMBERS);
    float *out = lua_newuserdatauv(lua, (length + more) * sizeof *out + 1, 0);
    lua_insert(lua, -2);
    read_list(lua, out, 1);
    lua_pop(lua, 1);
    *count = (uint32_t)length;
    return out;
}

static mf_Group *group_of(lua_State *lua, bool optional) {
    const mf_Scene *scene = &mf_script_of(lua)->all->scene;
    const char *name = text_of(lua, "group", optional);
    const uint32_t group = mf_scene_file_group(scene->file, name);
    if (group == MF_NONE && name != NULL)
        luaL_error(lua, "draw: no group %s", name);
    return mf_world_group(scene->world, group); // of MF_NONE: NULL
}

// Group, robot and link that carry a drawing.
static void read_carrier(lua_State *lua, mf_Drawing *drawing) {
    drawing->group = group_of(lua, true);
    if (drawing->group == NULL)
        return;
    const double robot = number_of(lua, "robot", 0.0);
    if (!(robot >= 0.0 && robot < 4294967295.0))
        luaL_error(lua, "draw: expected a number of a robot");
    drawing->robot = (uint32_t)robot;
    const char *link = text_of(lua, "link", true);
    if (link == NULL)
        return;
    drawing->link = mf_model_find(mf_group_model(drawing->group), MF_ITEM_LINK, link);
    if (drawing->link == MF_NONE)
        luaL_error(lua, "draw: group %s: it has no link %s",
                   mf_group_config_of(drawing->group)->name, link);
}

// ---- layers -------------------------------------------------------------------------------------

static int draw(lua_State *lua, mf_Drawing *drawing) {
    mf_Error error = {0};
    drawing->color = color_of(lua);
    drawing->size = number_of(lua, "size", 0.0);
    const char *name = text_of(lua, "name", false);
    if (mf_draw_as(world_of(lua), owner_of(lua), name, drawing, &error) != MF_OK)
        return mf_script_raise(lua, &error);
    return 0;
}

static int draw_at(lua_State *lua, mf_DrawKind kind) {
    mf_Drawing drawing = {.kind = kind};
    luaL_checktype(lua, 1, LUA_TTABLE);
    drawing.numbers = list_of(lua, "at", 0, &drawing.count);
    if (kind == MF_DRAW_TEXT)
        drawing.text = text_of(lua, "text", false);
    read_carrier(lua, &drawing);
    return draw(lua, &drawing);
}

static int draw_points(lua_State *lua) {
    return draw_at(lua, MF_DRAW_POINTS);
}

static int draw_lines(lua_State *lua) {
    return draw_at(lua, MF_DRAW_LINES);
}

static int draw_arrows(lua_State *lua) {
    return draw_at(lua, MF_DRAW_ARROWS);
}

static int draw_text(lua_State *lua) {
    return draw_at(lua, MF_DRAW_TEXT);
}

static int draw_ghost(lua_State *lua) {
    mf_Drawing drawing = {.kind = MF_DRAW_GHOST};
    uint32_t joints = 0;
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_getfield(lua, 1, "angles");
    const bool has_angles = !lua_isnil(lua, -1);
    drawing.group = group_of(lua, false);
    const uint32_t most = mf_group_model(drawing.group)->joint_count;
    float *numbers = list_of(lua, "pose", most, &drawing.count);
    if (has_angles && drawing.count == 7) {
        const float *angles = list_of(lua, "angles", 0, &joints);
        if (joints != most)
            return luaL_error(lua, "draw: expected %d angles, found %d", (int)most, (int)joints);
        memcpy(numbers + drawing.count, angles, joints * sizeof *angles);
    }
    drawing.numbers = numbers;
    drawing.count += joints;
    return draw(lua, &drawing);
}

static int clear(lua_State *lua) {
    mf_draw_clear_as(world_of(lua), owner_of(lua), luaL_optstring(lua, 1, NULL));
    return 0;
}

// ---- controls -----------------------------------------------------------------------------------

// What a control returns: a function that returns its value.
static int control_value(lua_State *lua) {
    const uint32_t number = (uint32_t)lua_tointeger(lua, lua_upvalueindex(1));
    lua_pushnumber(lua, mf_control_value_as(world_of(lua), owner_of(lua), number));
    return 1;
}

static int make_control(lua_State *lua, mf_Control *control) {
    mf_Script *script = mf_script_of(lua);
    mf_Error error = {0};
    control->name = text_of(lua, "name", false);
    control->unit = text_of(lua, "unit", true);
    const uint32_t number = script->control_count;
    if (mf_control_as(world_of(lua), owner_of(lua), number, control, &error) != MF_OK)
        return mf_script_raise(lua, &error);
    lua_getfield(lua, 1, "change");
    if (!lua_isnil(lua, -1) && !lua_isfunction(lua, -1))
        return luaL_error(lua, "control: expected a function `change`");
    script->controls[number] = lua_isnil(lua, -1) ? LUA_NOREF : luaL_ref(lua, LUA_REGISTRYINDEX);
    script->control_count++;
    lua_pushinteger(lua, number);
    lua_pushcclosure(lua, control_value, 1);
    return 1;
}

static int slider(lua_State *lua) {
    mf_Control control = {.kind = MF_CONTROL_SLIDER};
    luaL_checktype(lua, 1, LUA_TTABLE);
    control.low = number_of(lua, "low", 0.0);
    control.high = number_of(lua, "high", 1.0);
    control.step = number_of(lua, "step", 0.0);
    control.value = number_of(lua, "value", 0.5 * (control.low + control.high));
    return make_control(lua, &control);
}

static int button(lua_State *lua) {
    mf_Control control = {.kind = MF_CONTROL_BUTTON};
    luaL_checktype(lua, 1, LUA_TTABLE);
    return make_control(lua, &control);
}

static int checkbox(lua_State *lua) {
    mf_Control control = {.kind = MF_CONTROL_CHECKBOX};
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_getfield(lua, 1, "value");
    control.value = lua_toboolean(lua, -1);
    return make_control(lua, &control);
}

mf_Status mf_script_tell_controls(mf_Script *script, mf_Error *error) {
    lua_State *lua = script->lua;
    uint32_t number;
    double value;
    while (mf_control_take(script->all->scene.world, owner_of(lua), &number, &value, NULL)) {
        if (script->controls[number] == LUA_NOREF)
            continue;
        lua_rawgeti(lua, LUA_REGISTRYINDEX, script->controls[number]);
        lua_pushnumber(lua, value);
        MF_TRY(mf_script_call(script, "control", 1, error));
        mf_script_clean(script->all);
    }
    return MF_OK;
}

void mf_script_add_draw(lua_State *lua) {
    static const luaL_Reg layers[] = {{"points", draw_points},
                                      {"lines", draw_lines},
                                      {"arrows", draw_arrows},
                                      {"text", draw_text},
                                      {"ghost", draw_ghost},
                                      {"clear", clear},
                                      {NULL, NULL}};
    static const luaL_Reg controls[] = {
        {"slider", slider}, {"button", button}, {"checkbox", checkbox}, {NULL, NULL}};
    luaL_newlib(lua, layers);
    lua_setglobal(lua, "draw");
    luaL_newlib(lua, controls);
    lua_setglobal(lua, "control");
}
