// Properties in scripts: a path is resolved once, to the addresses of its values in the fields.
//
// A handle is an array of numbers: all values of all properties that match, robot by robot. Writing
// state marks the robot; before the next reading of one of its values, and before the next step,
// its group recomputes derived values once (mf_property_write does it after each writing). Fields
// that no motion writes, such as joint.target, are commands: writing them marks nothing, as for
// controllers.
#include "scene/script/engine.h"
#include "world/attach.h"
#include "world/group.h"
#include "world/property.h"
#include "world/value.h"

#include "math/scalar.h"

#include <mayfly/property.h>

#include <string.h>

#define TYPE "mayfly.property"

typedef struct Slot {
    void *address;
    float *remainder;  // of a sum, which writing clears; NULL: none
    uint32_t instance; // [1]
    uint32_t group;    // [1]
    uint8_t type;      // mf_FieldType
    bool marks;        // its robot is marked after writing
} Slot;

typedef struct Handle {
    mf_Script *script;
    const char *locked; // why it may not be written, or NULL
    const char *name, *unit;
    uint64_t count; // [1] slots
    bool noisy;     // its user value is a law of noise
    Slot slots[];
} Handle;

// ---- resolving ----------------------------------------------------------------------------------

typedef struct Fill {
    mf_Script *script;
    Handle *handle; // NULL: values are only counted
    uint64_t count;
    const char *locked, *name, *unit;
    const mf_Field *last; // of which `marks` stands
    bool marks, rotates;
} Fill;

// Where the value is, and its remainder.
static void point_to(Slot *slot, const mf_Property *property, uint32_t index) {
    const mf_Field *field = property->field;
    if (field == NULL) {
        slot->address = (void *)(uintptr_t)&property->constant[index];
        return;
    }
    const size_t at = mf_field_index(field, property->instance, property->first + index);
    slot->address = (char *)field->data + at * mf_field_value_size(field->info.type);
    slot->remainder = field->remainder != NULL ? (float *)field->remainder + at : NULL;
}

static bool visit(const mf_Property *property, void *user) {
    Fill *fill = user;
    if (fill->handle != NULL && property->field != NULL && property->field != fill->last) {
        fill->last = property->field;
        fill->marks = mf_property_moves(property);
    }
    for (uint32_t i = 0; i < property->count && fill->handle != NULL; i++) {
        Slot *slot = &fill->handle->slots[fill->count + i];
        *slot =
            (Slot){.instance = property->instance,
                   .group = property->group->number,
                   .type = (uint8_t)(property->field == NULL ? MF_F64 : property->field->info.type),
                   .marks = property->field != NULL && fill->marks};
        point_to(slot, property, i);
    }
    fill->count += property->count;
    fill->name = property->name;
    fill->unit = property->unit;
    if (fill->locked == NULL)
        fill->locked = mf_property_is_rotation(property)
                           ? "a rotation: write its four numbers by world:set"
                           : mf_property_locked(property);
    return true;
}

int mf_script_property(lua_State *lua) {
    mf_Script *script = mf_script_of(lua);
    mf_World *world = script->all->scene.world;
    const char *path = luaL_checkstring(lua, 2);
    mf_Error error = {0};
    mf_Property one;
    Fill fill = {.script = script};
    mf_property_list(world, path, visit, &fill);
    if (fill.count == 0) {
        if (mf_property_find(world, path, &one, &error) == MF_OK)
            return luaL_error(lua, "property %s: it has no values", path);
        return mf_script_raise(lua, &error);
    }
    mf_script_charge(script, fill.count);
    Handle *handle = lua_newuserdatauv(lua, sizeof *handle + fill.count * sizeof(Slot), 1);
    *handle = (Handle){.script = script,
                       .locked = fill.locked,
                       .name = fill.name,
                       .unit = fill.unit,
                       .count = fill.count};
    fill = (Fill){.script = script, .handle = handle};
    mf_property_list(world, path, visit, &fill);
    luaL_setmetatable(lua, TYPE);
    return 1;
}

// ---- values -------------------------------------------------------------------------------------

static double read_slot(Handle *handle, const Slot *slot) {
    mf_Scripts *all = handle->script->all;
    if (all->dirty > 0 && all->dirt[slot->group].marked[slot->instance])
        mf_script_clean(all);
    return mf_value_get(slot->type, slot->address, 0);
}

// Pushes a value as the script reads it: what its law of noise makes of it. The handle is at 1.
static void push_value(lua_State *lua, Handle *handle, uint64_t index) {
    const double value = read_slot(handle, &handle->slots[index]);
    if (!handle->noisy) {
        lua_pushnumber(lua, value);
        return;
    }
    lua_getiuservalue(lua, 1, 1);
    lua_pushnumber(lua, value);
    lua_pushinteger(lua, (lua_Integer)index + 1);
    lua_call(lua, 2, 1);
    if (lua_type(lua, -1) != LUA_TNUMBER)
        luaL_error(lua, "property %s: the law of noise returned a %s, expected a number",
                   handle->name, luaL_typename(lua, -1));
}

static void mark(mf_Scripts *all, const Slot *slot) {
    mf_ScriptDirt *dirt = &all->dirt[slot->group];
    if (dirt->marked[slot->instance])
        return;
    dirt->marked[slot->instance] = 1;
    dirt->robots[dirt->count++] = slot->instance;
    all->dirty++;
}

// As mf_property_write, for one number.
static void write_slot(lua_State *lua, Handle *handle, const Slot *slot, double value) {
    const bool whole = slot->type == MF_I32 || slot->type == MF_U32;
    const double lower = slot->type == MF_U32 ? 0.0 : -2147483648.0;
    const double upper = slot->type == MF_U32 ? 4294967295.0 : 2147483647.0;
    if (!mf_is_finite(value) || (slot->type == MF_F32 && !mf_is_finite((double)(float)value)))
        luaL_error(lua, "property %s: expected a finite number, found %f", handle->name, value);
    if (whole && !(value >= lower && value <= upper && mf_floor(value) == value))
        luaL_error(lua, "property %s: expected a whole number, found %f", handle->name, value);
    mf_value_set(slot->type, slot->address, 0, value);
    if (slot->remainder != NULL)
        *slot->remainder = 0.0f;
    if (slot->marks)
        mark(handle->script->all, slot);
}

static Handle *check_handle(lua_State *lua) {
    return luaL_checkudata(lua, 1, TYPE);
}

static Handle *check_writable(lua_State *lua) {
    Handle *handle = check_handle(lua);
    if (handle->locked != NULL)
        luaL_error(lua, "property %s: cannot be written, it is %s", handle->name, handle->locked);
    return handle;
}

static const Slot *check_slot(lua_State *lua, const Handle *handle) {
    const lua_Integer index = luaL_checkinteger(lua, 2);
    if (index < 1 || (uint64_t)index > handle->count)
        luaL_error(lua, "property %s: expected a number 1 .. %I, found %I", handle->name,
                   (lua_Integer)handle->count, index);
    return &handle->slots[index - 1];
}

// handle[i], or a method.
static int get_index(lua_State *lua) {
    Handle *handle = check_handle(lua);
    if (lua_type(lua, 2) == LUA_TSTRING) {
        lua_pushvalue(lua, 2);
        lua_rawget(lua, lua_upvalueindex(1));
        if (lua_isnil(lua, -1))
            return luaL_error(lua, "property %s: it has no method %s", handle->name,
                              lua_tostring(lua, 2));
        return 1;
    }
    push_value(lua, handle, (uint64_t)(check_slot(lua, handle) - handle->slots));
    return 1;
}

static int set_index(lua_State *lua) {
    Handle *handle = check_writable(lua);
    const Slot *slot = check_slot(lua, handle);
    write_slot(lua, handle, slot, luaL_checknumber(lua, 3));
    return 0;
}

static int get_length(lua_State *lua) {
    lua_pushinteger(lua, (lua_Integer)check_handle(lua)->count);
    return 1;
}

// handle:all([table]): all values, in a new table or that one.
static int get_all(lua_State *lua) {
    Handle *handle = check_handle(lua);
    mf_script_charge(handle->script, handle->count);
    if (lua_isnoneornil(lua, 2)) {
        lua_settop(lua, 1);
        lua_createtable(lua, (int)handle->count, 0);
    }
    luaL_checktype(lua, 2, LUA_TTABLE);
    lua_settop(lua, 2);
    for (uint64_t i = 0; i < handle->count; i++) {
        push_value(lua, handle, i);
        lua_rawseti(lua, 2, (lua_Integer)i + 1);
    }
    return 1;
}

// handle:assign(table): all values from a table with as many numbers.
static int assign(lua_State *lua) {
    Handle *handle = check_writable(lua);
    luaL_checktype(lua, 2, LUA_TTABLE);
    if (lua_rawlen(lua, 2) != handle->count)
        return luaL_error(lua, "property %s: expected %I numbers, found %I", handle->name,
                          (lua_Integer)handle->count, (lua_Integer)lua_rawlen(lua, 2));
    mf_script_charge(handle->script, handle->count);
    for (uint64_t i = 0; i < handle->count; i++) {
        int is_number;
        lua_rawgeti(lua, 2, (lua_Integer)i + 1);
        const double value = lua_tonumberx(lua, -1, &is_number);
        if (!is_number)
            return luaL_error(lua, "property %s: value %I is a %s, expected a number", handle->name,
                              (lua_Integer)i + 1, luaL_typename(lua, -1));
        write_slot(lua, handle, &handle->slots[i], value);
        lua_pop(lua, 1);
    }
    return 0;
}

// handle:fill(value): all values.
static int fill_all(lua_State *lua) {
    Handle *handle = check_writable(lua);
    const double value = luaL_checknumber(lua, 2);
    mf_script_charge(handle->script, handle->count);
    for (uint64_t i = 0; i < handle->count; i++)
        write_slot(lua, handle, &handle->slots[i], value);
    return 0;
}

// handle:noise(law): from then on reading a value gives law(value, i); nil: the value itself.
static int set_noise(lua_State *lua) {
    Handle *handle = check_handle(lua);
    if (!lua_isnoneornil(lua, 2))
        luaL_checktype(lua, 2, LUA_TFUNCTION);
    lua_settop(lua, 2);
    handle->noisy = !lua_isnil(lua, 2);
    lua_setiuservalue(lua, 1, 1);
    return 0;
}

// handle:robot(i): group and number of the robot of a value.
static int get_robot(lua_State *lua) {
    const Handle *handle = check_handle(lua);
    const Slot *slot = check_slot(lua, handle);
    lua_pushstring(lua, mf_group_config_of(handle->script->all->dirt[slot->group].group)->name);
    lua_pushinteger(lua, slot->instance);
    return 2;
}

static int get_unit(lua_State *lua) {
    lua_pushstring(lua, check_handle(lua)->unit);
    return 1;
}

static int to_text(lua_State *lua) {
    lua_pushfstring(lua, "property %s", check_handle(lua)->name);
    return 1;
}

// ---- one property, by its path ------------------------------------------------------------------

static mf_Property find(lua_State *lua) {
    mf_Property property;
    mf_Error error = {0};
    if (mf_property_find(mf_script_of(lua)->all->scene.world, luaL_checkstring(lua, 2), &property,
                         &error) != MF_OK)
        mf_script_raise(lua, &error);
    mf_script_charge(mf_script_of(lua), property.count);
    mf_script_clean(mf_script_of(lua)->all);
    return property;
}

int mf_script_get(lua_State *lua) {
    const mf_Property property = find(lua);
    double *values = lua_newuserdatauv(lua, property.count * sizeof *values, 0);
    mf_property_read(&property, values);
    if (property.count == 1) {
        lua_pushnumber(lua, values[0]);
        return 1;
    }
    lua_createtable(lua, (int)property.count, 0);
    for (uint32_t i = 0; i < property.count; i++) {
        lua_pushnumber(lua, values[i]);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
    return 1;
}

int mf_script_set(lua_State *lua) {
    const mf_Property property = find(lua);
    mf_Error error = {0};
    double *values = lua_newuserdatauv(lua, property.count * sizeof *values, 0);
    const bool table = lua_istable(lua, 3);
    if (table && lua_rawlen(lua, 3) != property.count)
        return luaL_error(lua, "property %s: expected %I numbers, found %I", property.name,
                          (lua_Integer)property.count, (lua_Integer)lua_rawlen(lua, 3));
    if (!table && property.count != 1)
        return luaL_error(lua, "property %s: expected a table of %I numbers", property.name,
                          (lua_Integer)property.count);
    for (uint32_t i = 0; i < property.count; i++) {
        int is_number = 1;
        if (table)
            lua_rawgeti(lua, 3, (lua_Integer)i + 1);
        values[i] = table ? lua_tonumberx(lua, -1, &is_number) : luaL_checknumber(lua, 3);
        if (!is_number)
            return luaL_error(lua, "property %s: expected numbers, found a %s", property.name,
                              luaL_typename(lua, -1));
        lua_settop(lua, 4);
    }
    if (mf_property_write(&property, values, &error) != MF_OK)
        return mf_script_raise(lua, &error);
    return 0;
}

void mf_script_add_properties(lua_State *lua) {
    static const luaL_Reg methods[] = {
        {"all", get_all},   {"assign", assign},   {"fill", fill_all}, {"robot", get_robot},
        {"unit", get_unit}, {"noise", set_noise}, {NULL, NULL}};
    luaL_newmetatable(lua, TYPE);
    luaL_newlib(lua, methods);
    lua_pushcclosure(lua, get_index, 1);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, set_index);
    lua_setfield(lua, -2, "__newindex");
    lua_pushcfunction(lua, get_length);
    lua_setfield(lua, -2, "__len");
    lua_pushcfunction(lua, to_text);
    lua_setfield(lua, -2, "__tostring");
    lua_pushboolean(lua, 0);
    lua_setfield(lua, -2, "__metatable");
    lua_pop(lua, 1);
}
