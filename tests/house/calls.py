"""Writes a C program that calls every function of the public headers wrongly: with NULL and zeros; then with real
objects and with numbers that are out of range (indices, instances, counts, times, enumerators, NaN), with groups of
every motion.

The calls of one function are made in a process of their own. The rule (docs/explanation/concepts.md): no call crashes;
with NULL a function that returns mf_Status fails, one that returns a pointer gives NULL, all others a value, or nothing.

usage: calls.py SOURCE_FOLDER > calls.c
"""

import pathlib
import re
import sys

FUNCTION = re.compile(
    r"MF_API\s+([^;{]*?)\b(mf_\w+)\s*\(((?:[^()]|\([^()]*\))*)\)\s*(?:MF_PRINTF\([^)]*\))?\s*;"
)
# Numbers are outside of what NULL says; these take no pointer that must be there.
MAY_SUCCEED = {"mf_context_create", "mf_neurons_check"}
# Objects by type, as expressions of the program below.
OBJECTS = {
    "mf_Context": "context",
    "mf_World": "world",
    "mf_Group": "group",
    "mf_Model": "model",
    "mf_Field": "field",
    "mf_Scene": "scene",
    "mf_SceneFile": "scene->file",
    "mf_Terrain": "terrain",
    "mf_Builder": "builder",
    "mf_Environment": "environment",
    "mf_Recorder": "NULL",
}
# What these read or write is as long as the caller says, wherever it is; or they end what others use.
BOUND_BY_CALLER = re.compile(
    r"mf_(release|file_replace|crc|hash|parallel_for|context_destroy|world_destroy|scene_(close|destroy|file_destroy)"
    r"|model_destroy|terrain_destroy|builder_destroy|environment_destroy|allocate|error_format|fail|scene_file_parse"
    r"|gait_is|body_(kind_of|destroy)|network_weight_count|image_|png_|placement_positions|time_|world_step|scene_run|world_restore|world_rewind|neurons_check|random)"
)
WHOLE = {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "size_t", "int", "unsigned", "int32_t", "int64_t", "mf_Time"}
SCENES = ("everything", "cloth", "grains", "gravel", "tear", "quadrotor", "cantilever", "snake", "mixed_reality")


def functions(headers):
    """(return type, name, arguments) of all functions of the headers; text that is missing where a format is expected
    is a mistake that the compiler reports."""
    for header in headers:
        text = re.sub(r"//[^\n]*", "", header.read_text())
        found = [[" ".join(part.split()) for part in row] for row in FUNCTION.findall(text)]
        declared = len(re.findall(r"^MF_API ", text, re.M))
        if len(found) != declared:
            sys.exit(f"{header}: {declared} functions are declared, {len(found)} understood")
        yield from (row for row in found if "..." not in row[2])


def split(arguments):
    """Arguments at commas outside of parentheses."""
    parts, depth = [""], 0
    for letter in arguments:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip() not in ("", "void", "...")]


def declaration(argument):
    """The argument as a variable: arrays become pointers."""
    if "(*" in argument:
        return argument, re.search(r"\(\*\s*(\w+)", argument)[1]
    array = re.match(r"(.*?)(\w+)\[[^\]]*\]((?:\[[^\]]*\])*)$", argument)
    if array:
        kind, name, rest = array.groups()
        return (f"{kind}(*{name}){rest}" if rest else f"{kind}*{name}"), name
    return argument, re.search(r"(\w+)$", argument)[1]


def null_call(result, name, arguments):
    variables = [declaration(argument) for argument in split(arguments)]
    body = "".join(f"    {text} = {{0}};\n" for text, _ in variables)
    use = f"{name}({', '.join(variable for _, variable in variables)})"
    if result == "mf_Status" and name not in MAY_SUCCEED:
        use = f"return {use} == MF_OK"
    elif result.endswith("*"):
        use = f"return {use} != NULL && {int('*' in arguments)}"
    return f"static int null_{name}(uint32_t round) {{\n{body}    {use};\n    return 0;\n}}\n"


def maker_of(kind):
    """The function that gives a configuration its defaults: mf_world_config of mf_WorldConfig."""
    return "mf_" + re.sub(r"(?<!^)(?=[A-Z])", "_", kind[3:]).lower()


def value(text, configs, enums):
    """The expression for an argument: of the objects, or of the numbers of a round."""
    kind = re.sub(r"\b(const|struct|enum)\b", "", text[: text.rindex(declaration(text)[1])]).strip()
    base = kind.replace("*", "").strip()
    if "(*" in text:
        return "NULL"
    if "**" in kind:
        return "(void *)slots"
    if "[" in text or "(*" in declaration(text)[0]:
        return "(void *)memory"
    if "*" in kind:
        if base in OBJECTS:
            return f"(void *){OBJECTS[base]}"
        if base in configs:
            return f"(void *)&config_{base}"
        if base == "char":
            return '(void *)(round % 2 ? "x" : "")' if "const" in text else "(void *)memory"
        if base == "mf_Error":
            return "&error"
        return "(void *)memory" if base in WHOLE | {"double", "float", "bool", "void", "mf_Status"} else "NULL"
    if base in ("double", "float"):
        return f"({base})reals[round % 4]"
    if base == "bool":
        return "(round % 2 == 0)"
    if base in WHOLE or base in enums or base.endswith("Id"):
        return f"({base})wholes[round % 6]"
    return None


def wrong_call(name, arguments, configs, enums):
    values = [value(part, configs, enums) for part in split(arguments)]
    if not values or None in values or BOUND_BY_CALLER.match(name):
        return None
    setup = "".join(
        f"    {kind} config_{kind} = {maker_of(kind)}();\n" for kind in configs if f"(void *)&config_{kind}" in values
    )
    return f"static int wrong_{name}(uint32_t round) {{\n{setup}    {name}({', '.join(values)});\n    return 0;\n}}\n"


HEAD = """#include <mayfly/mayfly.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
INCLUDES
static mf_Context *context;
static mf_World *world;
static mf_Group *group;
static mf_Scene *scene;
static const mf_Model *model;
static mf_Field *field;
static mf_Terrain *terrain;
static mf_Builder *builder;
static mf_Environment *environment;
static mf_Error error;
static double memory[1 << 20];
static void *slots[1024];
static const double reals[] = {NAN, 1e300, -1.0, INFINITY};
static const int64_t wholes[] = {UINT32_MAX, 1000000, 99, INT32_MAX, 1, INT64_MIN};

enum { NULLS, ALONE, GROUPED }; // with NULL; with numbers, of what has no group; with those of a group

typedef struct Call {
    const char *name;
    int kind;
    int (*call)(uint32_t round); // whether NULL is taken as if it were something
} Call;
"""
MAIN = """
static const char *const files[] = {FILES};

static uint32_t *reached; // shared with the children

static int sweep(const char *what, int kind) {
    int wrong = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (calls[i].kind != kind)
            continue;
        fflush(stdout);
        pid_t child = fork();
        int state = 0;
        if (child == 0) {
            int null = open("/dev/null", O_WRONLY), taken = 0;
            alarm(60);
            dup2(null, 2);
            for (*reached = 0; *reached < (kind == NULLS ? 1 : 12); ++*reached)
                taken += calls[i].call(*reached);
            _exit(taken);
        }
        waitpid(child, &state, 0);
        wrong += state != 0;
        if (WIFSIGNALED(state))
            printf("%s: round %u ends with signal %d (%s)\\n", calls[i].name, *reached, WTERMSIG(state), what);
        else if (state != 0)
            printf("%s: takes NULL as if it were something\\n", calls[i].name);
    }
    return wrong;
}

int main(void) {
    int wrong = 0, groups = 0;
    uint32_t seen = 0; // one group of each motion is enough for every day
    mf_ContextConfig config = mf_context_config();
    config.threads = 1;
    reached = mmap(NULL, sizeof *reached, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    wrong += sweep("with NULL", NULLS);
    mf_context_create(&config, &context, NULL);
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        if (mf_scene_open(context, files[f], NULL, 0, &scene, &error) != MF_OK) {
            printf("%s: %s\\n", files[f], error.message);
            return 1;
        }
        world = scene->world;
        terrain = (mf_Terrain *)(uintptr_t)mf_world_config_of(world)->terrain;
        for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
            char what[256];
            group = mf_world_group(world, g);
            const uint32_t motion = 1u << mf_motion_of(group, 0);
            if (seen & motion && getenv("MAYFLY_FULL") == NULL)
                continue;
            seen |= motion;
            model = mf_group_model(group);
            field = mf_group_field(group, 0);
            snprintf(what, sizeof what, "%s, group %s", files[f], mf_group_config_of(group)->name);
            wrong += sweep(what, GROUPED);
            groups++;
        }
    }
    mf_builder_create(context, "robot", &builder, NULL);
    wrong += sweep("without a group", ALONE);
    printf("%zu calls with NULL and with wrong numbers, groups of %d motions, %d wrong\\n",
           sizeof calls / sizeof *calls, groups, wrong);
    return wrong != 0;
}
"""


def main():
    root = pathlib.Path(sys.argv[1])
    headers = sorted((root / "include" / "mayfly").glob("*.h"))
    text = re.sub(r"//[^\n]*", "", "\n".join(path.read_text() for path in headers))
    enums = set(re.findall(r"typedef enum (mf_\w+)", text)) | set(re.findall(r"typedef u?int\d+_t (mf_\w+);", text))
    makers = dict(re.findall(r"MF_API (mf_\w+Config) (mf_\w+)\(void\);", text))
    configs = [kind for kind, maker in makers.items() if maker == maker_of(kind)]
    rows = []
    print(HEAD.replace("INCLUDES", "\n".join(f"#include <mayfly/{path.name}>" for path in headers)))
    for result, name, arguments in functions(headers):
        wrong = wrong_call(name, arguments, configs, enums)
        grouped = re.search(r"mf_(Group|Field|World|Scene|Model) ", arguments)
        print(null_call(result, name, arguments), wrong or "")
        rows.append(f'    {{"{name}", NULLS, null_{name}}},')
        if wrong is not None:
            rows.append(f'    {{"{name}", {"GROUPED" if grouped else "ALONE"}, wrong_{name}}},')
    print("static const Call calls[] = {\n" + "\n".join(rows) + "\n};")
    print(MAIN.replace("FILES", ", ".join(f'"{root.resolve()}/scenes/{name}.yaml"' for name in SCENES)))


if __name__ == "__main__":
    main()
