"""Writes a C program that calls every function of the public headers with real objects and with numbers that are
out of range: indices, instances, counts, times, enumerators, NaN; with groups of every motion.

The calls of one function, one round after the other, are made in a process of their own. The rule
(docs/explanation/concepts.md): no call crashes.

usage: wrong_calls.py SOURCE_FOLDER > calls.c
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from null_calls import declaration, functions, split

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
            return f"(void *)&{configs[base]}"
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


def call(result, name, arguments, configs, enums):
    parts = split(arguments)
    values = [value(part, configs, enums) for part in parts]
    used = [part for part, text in zip(parts, values) if text is not None]
    if not parts or len(used) != len(parts):
        return None
    setup = "".join(
        f"    {kind} {variable} = {kind[3:] and re.sub(r'(?<!^)(?=[A-Z])', '_', kind[3:]).lower() and 'mf_' + re.sub(r'(?<!^)(?=[A-Z])', '_', kind[3:]).lower()}();\n"
        for kind, variable in configs.items()
        if any(f"&{variable}" in text for text in values)
    )
    return f"static void call_{name}(uint32_t round) {{\n    (void)round;\n{setup}    {name}({', '.join(values)});\n}}\n"


MAIN = """
static const char *const files[] = {FILES};

static uint32_t *reached; // shared with the children

static int sweep(const char *what, const char *group_name) {
    int wrong = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (calls[i].grouped != (group_name != NULL))
            continue;
        fflush(stdout);
        pid_t child = fork();
        int state = 0;
        if (child == 0) {
            alarm(20);
            int null = open("/dev/null", O_WRONLY);
            dup2(null, 2);
            for (*reached = 0; *reached < 12; ++*reached)
                calls[i].call(*reached);
            _exit(0);
        }
        waitpid(child, &state, 0);
        if (!WIFSIGNALED(state))
            continue;
        wrong++;
        printf("%s: round %u ends with signal %d (%s%s%s)\\n", calls[i].name, *reached, WTERMSIG(state), what,
               group_name ? ", group " : "", group_name ? group_name : "");
    }
    return wrong;
}

int main(void) {
    int wrong = 0, groups = 0;
    uint32_t seen = 0; // one group of each motion is enough for every day
    mf_ContextConfig config = mf_context_config();
    config.threads = 1;
    reached = mmap(NULL, sizeof *reached, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    mf_context_create(&config, &context, NULL);
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        if (mf_scene_open(context, files[f], NULL, 0, &scene, &error) != MF_OK) {
            printf("%s: %s\\n", files[f], error.message);
            return 1;
        }
        world = scene->world;
        terrain = (mf_Terrain *)(uintptr_t)mf_world_config_of(world)->terrain;
        for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
            group = mf_world_group(world, g);
            const uint32_t motion = 1u << mf_motion_of(group, 0);
            if (seen & motion && getenv("MAYFLY_FULL") == NULL)
                continue;
            seen |= motion;
            model = mf_group_model(group);
            field = mf_group_field(group, 0);
            wrong += sweep(files[f], mf_group_config_of(group)->name);
            groups++;
        }
    }
    mf_builder_create(context, "robot", &builder, NULL);
    wrong += sweep("without a group", NULL);
    printf("%zu functions called with wrong numbers, groups of %d motions, %d wrong\\n", sizeof calls / sizeof *calls,
           groups, wrong);
    return wrong != 0;
}
"""


def main():
    root = pathlib.Path(sys.argv[1])
    headers = sorted((root / "include" / "mayfly").glob("*.h"))
    text = re.sub(r"//[^\n]*", "", "\n".join(path.read_text() for path in headers))
    enums = set(re.findall(r"typedef enum (mf_\w+)", text)) | set(re.findall(r"typedef u?int\d+_t (mf_\w+);", text))
    makers = dict(re.findall(r"MF_API (mf_\w+Config) (mf_\w+)\(void\);", text))
    configs = {
        kind: f"config_{kind}" for kind, maker in makers.items()
        if maker == "mf_" + re.sub(r"(?<!^)(?=[A-Z])", "_", kind[3:]).lower()
    }
    rows = [row for row in functions(root) if "..." not in row[2] and not BOUND_BY_CALLER.match(row[1])]
    made = [(row[1], row[2], call(*row, configs, enums)) for row in rows]
    made = [row for row in made if row[2] is not None]
    print("#include <mayfly/mayfly.h>\n#include <fcntl.h>\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>")
    print("#include <sys/mman.h>\n#include <sys/wait.h>\n#include <unistd.h>")
    print("".join(f"#include <mayfly/{path.name}>\n" for path in headers))
    print("static mf_Context *context;\nstatic mf_World *world;\nstatic mf_Group *group;\nstatic mf_Scene *scene;")
    print("static const mf_Model *model;\nstatic mf_Field *field;\nstatic mf_Terrain *terrain;")
    print("static mf_Builder *builder;\nstatic mf_Environment *environment;\nstatic mf_Error error;")
    print("static double memory[1 << 20];\nstatic void *slots[1024];")
    print("static const double reals[] = {NAN, 1e300, -1.0, INFINITY};")
    print("static const int64_t wholes[] = {UINT32_MAX, 1000000, 99, INT32_MAX, 1, INT64_MIN};")
    print("\n".join(text for _, _, text in made))
    print("static const struct {\n    const char *name;\n    bool grouped;\n    void (*call)(uint32_t round);\n} calls[] = {")
    print("".join(
        f'    {{"{name}", {int(bool(re.search(r"mf_(Group|Field|World|Scene|Model) ", arguments)))}, call_{name}}},\n'
        for name, arguments, _ in made) + "};")
    scenes = ("everything", "cloth", "grains", "gravel", "tear", "quadrotor", "cantilever", "snake", "mixed_reality")
    print(MAIN.replace("FILES", ", ".join(f'"{root.resolve()}/scenes/{name}.yaml"' for name in scenes)))


if __name__ == "__main__":
    main()
