// What scripts have of Lua: the language, and those functions of its libraries that neither reach
// outside nor run long without being counted nor depend on addresses. Missing on purpose: io, os,
// debug, coroutine, package, load and what resembles it, patterns of strings, finalizers, weak
// tables.
#include "scene/script/engine.h"

#include "math/scalar.h"

#include <lualib.h>
#include <string.h>

#define ELEMENTS 200 // [1] most of table.unpack

// ---- errors -------------------------------------------------------------------------------------

// What exceeds a limit is not caught.
static int call_protected(lua_State *lua) {
    luaL_checkany(lua, 1);
    lua_pushboolean(lua, 1);
    lua_insert(lua, 1);
    const int result = lua_pcall(lua, lua_gettop(lua) - 2, LUA_MULTRET, 0);
    if (mf_script_of(lua)->end != MF_SCRIPT_GOES_ON)
        return lua_error(lua);
    if (result == LUA_OK)
        return lua_gettop(lua);
    lua_pushboolean(lua, 0);
    lua_replace(lua, 1);
    return 2;
}

// ---- text ---------------------------------------------------------------------------------------

// Without addresses, which differ from run to run.
static void push_text(lua_State *lua, int index) {
    const int type = lua_type(lua, index);
    const bool own = luaL_getmetafield(lua, index, "__tostring") != LUA_TNIL;
    if (own)
        lua_pop(lua, 1);
    if (own || type == LUA_TNIL || type == LUA_TBOOLEAN || type == LUA_TNUMBER ||
        type == LUA_TSTRING)
        luaL_tolstring(lua, index, NULL);
    else
        lua_pushstring(lua, lua_typename(lua, type));
}

static int to_text(lua_State *lua) {
    luaL_checkany(lua, 1);
    push_text(lua, 1);
    return 1;
}

static int print(lua_State *lua) {
    mf_Script *script = mf_script_of(lua);
    const int count = lua_gettop(lua);
    luaL_Buffer line;
    luaL_buffinit(lua, &line);
    for (int i = 1; i <= count; i++) {
        if (i > 1)
            luaL_addchar(&line, '\t');
        push_text(lua, i);
        luaL_addvalue(&line);
    }
    luaL_pushresult(&line);
    if (script->all->print != NULL)
        script->all->print(script->from->name, lua_tostring(lua, -1), script->all->print_user);
    return 0;
}

// string.format, the original being its upvalue.
static int format(lua_State *lua) {
    size_t size;
    const char *text = luaL_checklstring(lua, 1, &size);
    for (size_t i = 0; i + 1 < size; i++) {
        if (text[i] != '%')
            continue;
        i += 1 + strspn(text + i + 1, "-+ #0123456789.");
        if (i < size && text[i] == 'p')
            return luaL_error(lua, "string.format: no addresses (%%p)");
    }
    for (int i = 2; i <= lua_gettop(lua); i++)
        if (lua_istable(lua, i) || lua_isuserdata(lua, i) || lua_isfunction(lua, i)) {
            push_text(lua, i);
            lua_replace(lua, i);
        }
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_insert(lua, 1);
    lua_call(lua, lua_gettop(lua) - 1, 1);
    return 1;
}

static int repeat(lua_State *lua) {
    size_t size;
    const char *text = luaL_checklstring(lua, 1, &size);
    const lua_Integer count = luaL_checkinteger(lua, 2);
    luaL_Buffer all;
    luaL_buffinit(lua, &all);
    if (size > 0 && count > 0)
        mf_script_charge(mf_script_of(lua), (uint64_t)count);
    for (lua_Integer i = 0; size > 0 && i < count; i++)
        luaL_addlstring(&all, text, size);
    luaL_pushresult(&all);
    return 1;
}

// Where a text occurs, or nil: without patterns.
static int find(lua_State *lua) {
    size_t size, needed;
    const char *text = luaL_checklstring(lua, 1, &size);
    const char *part = luaL_checklstring(lua, 2, &needed);
    const lua_Integer from = luaL_optinteger(lua, 3, 1);
    mf_script_charge(mf_script_of(lua), size / 8 + size * needed / 64);
    for (size_t i = from > 0 ? (size_t)from - 1 : 0; i + needed <= size; i++)
        if (memcmp(text + i, part, needed) == 0) {
            lua_pushinteger(lua, (lua_Integer)i + 1);
            lua_pushinteger(lua, (lua_Integer)(i + needed));
            return 2;
        }
    return 0;
}

// ---- tables -------------------------------------------------------------------------------------

static lua_Integer length(lua_State *lua) {
    luaL_checktype(lua, 1, LUA_TTABLE);
    return (lua_Integer)lua_rawlen(lua, 1);
}

static int insert(lua_State *lua) {
    const lua_Integer size = length(lua);
    lua_Integer at = size + 1;
    if (lua_gettop(lua) == 3) {
        at = luaL_checkinteger(lua, 2);
        luaL_argcheck(lua, at >= 1 && at <= size + 1, 2, "expected an index of the table");
    } else if (lua_gettop(lua) != 2) {
        return luaL_error(lua, "table.insert: expected a table, an optional index, and a value");
    }
    mf_script_charge(mf_script_of(lua), (uint64_t)(size + 1 - at));
    for (lua_Integer i = size; i >= at; i--) {
        lua_rawgeti(lua, 1, i);
        lua_rawseti(lua, 1, i + 1);
    }
    lua_rawseti(lua, 1, at);
    return 0;
}

static int take_out(lua_State *lua) {
    const lua_Integer size = length(lua), at = luaL_optinteger(lua, 2, size);
    if (size == 0)
        return 0;
    luaL_argcheck(lua, at >= 1 && at <= size, 2, "expected an index of the table");
    mf_script_charge(mf_script_of(lua), (uint64_t)(size - at));
    lua_rawgeti(lua, 1, at);
    for (lua_Integer i = at; i < size; i++) {
        lua_rawgeti(lua, 1, i + 1);
        lua_rawseti(lua, 1, i);
    }
    lua_pushnil(lua);
    lua_rawseti(lua, 1, size);
    return 1;
}

static int concat(lua_State *lua) {
    const lua_Integer size = length(lua);
    const char *between = luaL_optstring(lua, 2, "");
    luaL_Buffer all;
    mf_script_charge(mf_script_of(lua), (uint64_t)size);
    luaL_buffinit(lua, &all);
    for (lua_Integer i = 1; i <= size; i++) {
        lua_rawgeti(lua, 1, i);
        if (!lua_isstring(lua, -1))
            return luaL_error(lua, "table.concat: value %I is a %s, expected text or a number", i,
                              luaL_typename(lua, -1));
        luaL_addvalue(&all);
        if (i < size)
            luaL_addstring(&all, between);
    }
    luaL_pushresult(&all);
    return 1;
}

static int unpack(lua_State *lua) {
    const lua_Integer size = length(lua);
    if (size > ELEMENTS)
        return luaL_error(lua, "table.unpack: expected at most %d values, found %I", ELEMENTS,
                          size);
    luaL_checkstack(lua, ELEMENTS, NULL);
    for (lua_Integer i = 1; i <= size; i++)
        lua_rawgeti(lua, 1, i);
    return (int)size;
}

// A finalizer would run uncounted and at any time; weak tables show when memory is collected.
static int set_metatable(lua_State *lua) {
    static const char *const refused[] = {"__gc", "__mode"};
    luaL_checktype(lua, 1, LUA_TTABLE);
    luaL_argexpected(lua, lua_isnil(lua, 2) || lua_istable(lua, 2), 2, "nil or table");
    for (int i = 0; i < 2 && lua_istable(lua, 2); i++) {
        lua_pushstring(lua, refused[i]);
        if (lua_rawget(lua, 2) != LUA_TNIL)
            return luaL_error(lua, "setmetatable: scripts have no %s", refused[i]);
        lua_pop(lua, 1);
    }
    lua_settop(lua, 2);
    lua_setmetatable(lua, 1);
    return 1;
}

// ---- mathematics with the same bits everywhere --------------------------------------------------

#define FUNCTION(name, value)                                                                      \
    static int name(lua_State *lua) {                                                              \
        const double x = luaL_checknumber(lua, 1);                                                 \
        double sine, cosine;                                                                       \
        mf_sin_cos(x, &sine, &cosine);                                                             \
        lua_pushnumber(lua, value);                                                                \
        return 1;                                                                                  \
    }
FUNCTION(sine_of, sine)
FUNCTION(cosine_of, cosine)
FUNCTION(tangent_of, sine / cosine)
#undef FUNCTION

static int arc_sine(lua_State *lua) {
    lua_pushnumber(lua, mf_asin(luaL_checknumber(lua, 1)));
    return 1;
}

static int arc_cosine(lua_State *lua) {
    lua_pushnumber(lua, mf_acos(luaL_checknumber(lua, 1)));
    return 1;
}

static int arc_tangent(lua_State *lua) {
    lua_pushnumber(lua, mf_atan2(luaL_checknumber(lua, 1), luaL_optnumber(lua, 2, 1.0)));
    return 1;
}

static int exponential(lua_State *lua) {
    lua_pushnumber(lua, mf_exp(luaL_checknumber(lua, 1)));
    return 1;
}

// ---- loops in Lua itself, counted like those of the script --------------------------------------

// The order of equal elements and of keys is fixed.
static const char prelude[] =
    "local next, type, error, raw = ...\n"
    "local function less_of_two(a, b) return a < b end\n"
    "local function sort(list, less)\n"
    "  less = less or less_of_two\n"
    "  local size, from, to, width = raw(list), {}, {}, 1\n"
    "  for i = 1, size do from[i] = list[i] end\n"
    "  while width < size do\n"
    "    for low = 1, size, 2 * width do\n"
    "      local middle, high = low + width, low + 2 * width\n"
    "      if middle > size + 1 then middle = size + 1 end\n"
    "      if high > size + 1 then high = size + 1 end\n"
    "      local a, b = low, middle\n"
    "      for i = low, high - 1 do\n"
    "        if a < middle and (b >= high or not less(from[b], from[a])) then\n"
    "          to[i] = from[a] a = a + 1\n"
    "        else to[i] = from[b] b = b + 1 end\n"
    "      end\n"
    "    end\n"
    "    from, to, width = to, from, 2 * width\n"
    "  end\n"
    "  for i = 1, size do list[i] = from[i] end\n"
    "end\n"
    "table.sort = function(list, less)\n"
    "  if type(list) ~= 'table' then error('table.sort: expected a table', 2) end\n"
    "  sort(list, less)\n"
    "end\n"
    "local rank = {number = 1, string = 2, boolean = 3}\n"
    "local function before(a, b)\n"
    "  local x, y = type(a), type(b)\n"
    "  if x ~= y then return rank[x] < rank[y] end\n"
    "  if x == 'boolean' then return b and not a end\n"
    "  return a < b\n"
    "end\n"
    "function pairs(t)\n"
    "  if type(t) ~= 'table' then error('pairs: expected a table, found a ' .. type(t), 2) end\n"
    "  local keys, count = {}, 0\n"
    "  for key in next, t do\n"
    "    if not rank[type(key)] then\n"
    "      error('pairs: keys must be numbers, text or booleans: others have no order', 2)\n"
    "    end\n"
    "    count = count + 1 keys[count] = key\n"
    "  end\n"
    "  sort(keys, before)\n"
    "  local at = 0\n"
    "  return function()\n"
    "    while at < count do\n"
    "      at = at + 1\n"
    "      local value = t[keys[at]]\n"
    "      if value ~= nil then return keys[at], value end\n"
    "    end\n"
    "  end\n"
    "end\n";

// ---- what a script gets -------------------------------------------------------------------------

static const luaL_Reg own_base[] = {{"pcall", call_protected},
                                    {"tostring", to_text},
                                    {"print", print},
                                    {"setmetatable", set_metatable},
                                    {NULL, NULL}};
static const luaL_Reg own_string[] = {{"rep", repeat}, {"find", find}, {NULL, NULL}};
static const luaL_Reg own_table[] = {
    {"insert", insert}, {"remove", take_out}, {"concat", concat}, {"unpack", unpack}, {NULL, NULL}};
static const luaL_Reg own_math[] = {
    {"sin", sine_of},     {"cos", cosine_of},    {"tan", tangent_of},  {"asin", arc_sine},
    {"acos", arc_cosine}, {"atan", arc_tangent}, {"exp", exponential}, {NULL, NULL}};

// Leaves a table with those entries of the table at -1 that are named, and with `own`.
static void choose(lua_State *lua, const char *const *names, const luaL_Reg *own) {
    lua_newtable(lua);
    for (; *names != NULL; names++) {
        lua_getfield(lua, -2, *names);
        lua_setfield(lua, -2, *names);
    }
    luaL_setfuncs(lua, own, 0);
    lua_remove(lua, -2);
}

static void add_strings(lua_State *lua) {
    static const char *const kept[] = {"byte",  "char",    "len", "lower",
                                       "upper", "reverse", "sub", NULL};
    luaL_requiref(lua, "string", luaopen_string, 0);
    lua_getfield(lua, -1, "format");
    lua_pushcclosure(lua, format, 1);
    lua_insert(lua, -2);
    choose(lua, kept, own_string);
    lua_insert(lua, -2);
    lua_setfield(lua, -2, "format");
    lua_pushliteral(lua, ""); // its metatable names the whole library
    lua_getmetatable(lua, -1);
    lua_pushvalue(lua, -3);
    lua_setfield(lua, -2, "__index");
    lua_pop(lua, 2);
    lua_setfield(lua, -2, "string");
}

void mf_script_add_language(lua_State *lua) {
    static const char *const kept[] = {"assert", "error",    "ipairs",   "select",       "tonumber",
                                       "type",   "rawget",   "rawequal", "getmetatable", "rawset",
                                       "rawlen", "_VERSION", NULL};
    static const char *const kept_math[] = {
        "abs",  "ceil", "floor", "fmod", "huge",      "max",        "min",        "modf", "pi",
        "sqrt", "log",  "type",  "ult",  "tointeger", "maxinteger", "mininteger", NULL};
    static const char *const nothing[] = {NULL};
    luaL_requiref(lua, "_G", luaopen_base, 0);
    lua_getfield(lua, -1, "next");
    lua_insert(lua, -2);
    choose(lua, kept, own_base); // next, globals
    lua_newtable(lua);
    choose(lua, nothing, own_table);
    lua_setfield(lua, -2, "table");
    luaL_requiref(lua, "math", luaopen_math, 0);
    choose(lua, kept_math, own_math);
    lua_setfield(lua, -2, "math");
    add_strings(lua);
    lua_pushvalue(lua, -1);
    lua_setfield(lua, -2, "_G");
    // These globals, and none of Lua's.
    lua_pushvalue(lua, -1);
    lua_rawseti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_pushnil(lua);
    lua_setfield(lua, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (luaL_loadbufferx(lua, prelude, sizeof prelude - 1, "=mayfly", "t") != LUA_OK)
        lua_error(lua);
    lua_pushvalue(lua, -3); // next
    lua_getfield(lua, -3, "type");
    lua_getfield(lua, -4, "error");
    lua_getfield(lua, -5, "rawlen");
    lua_call(lua, 4, 0);
    lua_settop(lua, 0);
}
