// Results of scripts: tables (CSV) and values (JSON), kept in memory until the run ends. The
// program decides where they go; a script names files without folders.
#include "scene/script/engine.h"

#include "io/decimal.h"

#include <string.h>

#define TABLE "mayfly.results"
#define COLUMNS 256 // [1] most of a table

static bool is_plain(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' || letter == '-' || letter == '.';
}

// Letters, digits, _, - and dots, not at the front, with that ending.
static const char *check_name(lua_State *lua, int argument, const char *ending) {
    size_t size;
    const char *name = luaL_checklstring(lua, argument, &size);
    const size_t tail = strlen(ending);
    bool good = size > tail && size < MF_SCRIPT_NAME && name[0] != '.' && name[0] != '-' &&
                strcmp(name + size - tail, ending) == 0;
    for (size_t i = 0; i < size; i++)
        good = good && is_plain(name[i]);
    if (!good)
        luaL_error(lua,
                   "results: expected a name of at most %d letters, digits, - and _ that ends with "
                   "%s, found '%s'",
                   (int)MF_SCRIPT_NAME - 1, ending, name);
    return name;
}

// The result of that name, a new one where it does not exist.
static mf_ScriptText *open_result(lua_State *lua, const char *name) {
    mf_Script *script = mf_script_of(lua);
    mf_Scripts *all = script->all;
    for (uint32_t i = 0; i < all->result_count; i++)
        if (strcmp(all->results[i].name, name) == 0) {
            if (all->results[i].owner != script)
                luaL_error(lua, "results: %s belongs to script %s", name,
                           all->results[i].owner->from->name);
            return &all->results[i];
        }
    if (all->result_count == MF_SCRIPT_RESULTS)
        luaL_error(lua, "results: more than %d files", (int)MF_SCRIPT_RESULTS);
    mf_ScriptText *result = &all->results[all->result_count++];
    *result = (mf_ScriptText){.owner = script, .text = mf_text_begin(all->context)};
    snprintf(result->name, sizeof result->name, "%s", name);
    return result;
}

// The memory of a script's results counts as its own.
static void put(lua_State *lua, mf_ScriptText *result, const char *text, size_t size) {
    mf_Script *script = mf_script_of(lua);
    mf_script_charge(script, 1 + size / 8);
    if (size > script->limit - script->used) {
        script->end = MF_SCRIPT_OUT_OF_MEMORY;
        luaL_error(lua, "limit");
    }
    const size_t before = result->text.capacity;
    mf_text_put_bytes(&result->text, text, size);
    const size_t grown = result->text.capacity - before;
    const size_t capacity = script->limit - script->used;
    script->used += grown < capacity ? grown : capacity;
    if (result->text.failed)
        luaL_error(lua, "results: out of memory");
}

// ---- tables -------------------------------------------------------------------------------------

// One value: text in quotes where it has commas, quotes or lines.
static void put_cell(lua_State *lua, mf_ScriptText *result, int index) {
    char number[MF_DECIMAL_TEXT];
    size_t size;
    if (lua_type(lua, index) == LUA_TNUMBER && !lua_isinteger(lua, index)) {
        mf_decimal_write(lua_tonumber(lua, index), number);
        put(lua, result, number, strlen(number));
        return;
    }
    if (lua_type(lua, index) == LUA_TBOOLEAN) {
        const char *name = lua_toboolean(lua, index) ? "true" : "false";
        put(lua, result, name, strlen(name));
        return;
    }
    if (lua_isnil(lua, index)) // empty
        return;
    if (!lua_isstring(lua, index))
        luaL_error(lua, "results: %s: expected numbers, text or booleans, found a %s", result->name,
                   luaL_typename(lua, index));
    const char *text = luaL_tolstring(lua, index, &size);
    const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted)
        put(lua, result, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"')
            put(lua, result, "\"", 1);
        put(lua, result, text + i, 1);
    }
    if (quoted)
        put(lua, result, "\"", 1);
    lua_pop(lua, 1);
}

// results.table(name, {column, ...})
static int make_table(lua_State *lua) {
    const char *name = check_name(lua, 1, ".csv");
    luaL_checktype(lua, 2, LUA_TTABLE);
    const lua_Unsigned columns = lua_rawlen(lua, 2);
    luaL_argcheck(lua, columns >= 1 && columns <= COLUMNS, 2, "expected 1 .. 256 names of columns");
    mf_ScriptText **handle = lua_newuserdatauv(lua, sizeof *handle, 0);
    mf_ScriptText *result = *handle = open_result(lua, name);
    if (result->columns != 0)
        return luaL_error(lua, "results: %s exists", name);
    result->columns = (uint32_t)columns;
    for (lua_Unsigned i = 1; i <= columns; i++) {
        lua_rawgeti(lua, 2, (lua_Integer)i);
        put_cell(lua, result, lua_gettop(lua));
        put(lua, result, i < columns ? "," : "\n", 1);
        lua_pop(lua, 1);
    }
    luaL_setmetatable(lua, TABLE);
    return 1;
}

// table:row(value, ...)
static int add_row(lua_State *lua) {
    mf_ScriptText **handle = luaL_checkudata(lua, 1, TABLE);
    mf_ScriptText *result = *handle;
    if (lua_gettop(lua) - 1 != (int)result->columns)
        return luaL_error(lua, "results: %s: expected %d values, found %d", result->name,
                          (int)result->columns, lua_gettop(lua) - 1);
    for (int i = 0; i < (int)result->columns; i++) {
        put_cell(lua, result, 2 + i);
        put(lua, result, i + 1 < (int)result->columns ? "," : "\n", 1);
    }
    return 0;
}

// ---- JSON ---------------------------------------------------------------------------------------

static int quote(lua_State *lua) {
    size_t size;
    const char *text = luaL_checklstring(lua, 1, &size);
    luaL_Buffer all;
    luaL_buffinit(lua, &all);
    luaL_addchar(&all, '"');
    for (size_t i = 0; i < size; i++) {
        const unsigned char letter = (unsigned char)text[i];
        char escaped[8];
        if (letter == '"' || letter == '\\')
            luaL_addchar(&all, '\\');
        if (letter < 0x20) {
            snprintf(escaped, sizeof escaped, "\\u%04x", letter);
            luaL_addstring(&all, escaped);
        } else {
            luaL_addchar(&all, text[i]);
        }
    }
    luaL_addchar(&all, '"');
    luaL_pushresult(&all);
    return 1;
}

static int number_text(lua_State *lua) {
    char number[MF_DECIMAL_TEXT];
    const double value = luaL_checknumber(lua, 1);
    if (!(value - value == 0.0))
        lua_pushliteral(lua, "null"); // JSON has neither infinity nor NaN
    else if (lua_isinteger(lua, 1))
        luaL_tolstring(lua, 1, NULL);
    else
        lua_pushstring(lua, mf_decimal_write(value, number));
    return 1;
}

static int put_json(lua_State *lua) {
    size_t size;
    const char *name = check_name(lua, 1, ".json");
    const char *text = luaL_checklstring(lua, 2, &size);
    mf_ScriptText *result = open_result(lua, name);
    result->text.size = 0; // the last one counts
    put(lua, result, text, size);
    put(lua, result, "\n", 1);
    return 0;
}

static const char json[] =
    "local quote, number, put, concat = ...\n"
    "local function write(value, depth)\n"
    "  local kind = type(value)\n"
    "  if kind == 'nil' then return 'null' end\n"
    "  if kind == 'boolean' then return tostring(value) end\n"
    "  if kind == 'number' then return number(value) end\n"
    "  if kind == 'string' then return quote(value) end\n"
    "  if kind ~= 'table' then error('results: no ' .. kind .. ' in JSON', 0) end\n"
    "  if depth > 32 then error('results: tables in tables, more than 32 deep', 0) end\n"
    "  local parts = {}\n"
    "  if #value > 0 then\n"
    "    for i = 1, #value do parts[i] = write(value[i], depth + 1) end\n"
    "    return '[' .. concat(parts, ', ') .. ']'\n"
    "  end\n"
    "  for key, entry in pairs(value) do\n"
    "    parts[#parts + 1] = quote(tostring(key)) .. ': ' .. write(entry, depth + 1)\n"
    "  end\n"
    "  return '{' .. concat(parts, ', ') .. '}'\n"
    "end\n"
    "results.json = function(name, value) put(name, write(value, 0)) end\n";

void mf_script_add_results(lua_State *lua) {
    static const luaL_Reg methods[] = {{"row", add_row}, {NULL, NULL}};
    static const luaL_Reg functions[] = {{"table", make_table}, {NULL, NULL}};
    luaL_newmetatable(lua, TABLE);
    luaL_newlib(lua, methods);
    lua_setfield(lua, -2, "__index");
    lua_pushboolean(lua, 0);
    lua_setfield(lua, -2, "__metatable");
    lua_pop(lua, 1);
    luaL_newlib(lua, functions);
    lua_setglobal(lua, "results");
    if (luaL_loadbufferx(lua, json, sizeof json - 1, "=mayfly", "t") != LUA_OK)
        lua_error(lua);
    lua_pushcfunction(lua, quote);
    lua_pushcfunction(lua, number_text);
    lua_pushcfunction(lua, put_json);
    lua_getglobal(lua, "table");
    lua_getfield(lua, -1, "concat");
    lua_remove(lua, -2);
    lua_call(lua, 4, 0);
}
