#!/bin/sh
# Every rule of tools/lint fires on a small bad input, names the place, and is silent on a good one.
# usage: test_lint.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
lint=$1/tools/lint
if grep -q '^MAYFLY_SANITIZE:STRING=[a-z]' "$2/CMakeCache.txt"; then
    echo 'skipped: the release build looks at the same rules'
    exit 77
fi
command -v python3 >/dev/null || { echo 'skipped: no python3' && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# fires RULE PATTERN: the rule complains about $work with a line that matches PATTERN.
fires() {
    if python3 "$lint/$1.py" "$work" "$work" >"$work.out" 2>&1; then
        echo "FAILED: $1 accepted what should match: $2"
        failures=$((failures + 1))
    elif ! grep -q -- "$2" "$work.out"; then
        echo "FAILED: $1 does not say: $2" && cat "$work.out"
        failures=$((failures + 1))
    fi
    rm -f "$work.out"
}

silent() {
    if ! python3 "$lint/$1.py" "$work" "$work" >"$work.out" 2>&1; then
        echo "FAILED: $1 complains about a good input ($2)" && cat "$work.out"
        failures=$((failures + 1))
    fi
    rm -f "$work.out"
}

# header LINE: a public header whose one struct has this line as its field.
header() {
    mkdir -p "$work/include/mayfly"
    printf 'typedef struct mf_Thing {\n%s\n} mf_Thing;\n' "$1" >"$work/include/mayfly/thing.h"
}

test_units() {
    for field in 'double cell;' 'double cell; // edge' 'const float *data; // heights' \
        'uint32_t a, b;' 'mf_Time step; // how long' 'uint8_t image[4]; // [nonsense]' \
        'int8_t a[3];' 'size_t n; // no [1 unit' 'double cell[2]; /* [m] */'; do
        header "    $field"
        fires units 'thing.h:2: mf_Thing: no unit'
    done
    for field in 'double cell; // [m] edge' 'double inertia[6]; // [kg m^2] about the center' \
        'double a; // [rad] or [m]' 'const char *name;' 'bool on;' 'mf_Kind kind; // which' \
        'char text[9];' 'uint32_t a, // first
        b;   // [1]' '// [m/s^2] along -z
    double gravity;' 'void (*run)(int count, double time);'; do
        header "    $field"
        silent units "$field"
    done
    printf 'typedef struct {\n    double a; // [m]\n} mf_A;\n' >"$work/include/mayfly/thing.h"
    fires units 'write every struct as'
    rm -r "$work/include"
    fires units 'no headers'
}

# archives SOURCE: both libraries from one C text, the second one empty but for a function.
archives() {
    printf '%s\n' "$1" >"$work/thing.c"
    printf 'int mf_other(void);\nint mf_other(void)\n{\n    return 1;\n}\n' >"$work/other.c"
    for name in thing other; do
        "${CC:-gcc}" -fPIC -O1 -c "$work/$name.c" -o "$work/$name.o"
    done
    rm -f "$work"/*.a
    ar rcs "$work/libmayfly.a" "$work/thing.o"
    ar rcs "$work/libmayfly-tools.a" "$work/other.o"
}

test_symbols() {
    archives 'int mf_counter = 3;'
    fires symbols 'libmayfly.a(thing.o): mutable global: mf_counter'
    archives 'static int hidden; int mf_next(void) { return ++hidden; }'
    fires symbols 'mutable global: hidden'
    archives 'int mf_next(void) { static int inside = 7; return ++inside; }'
    fires symbols 'mutable global: inside'
    archives 'static _Thread_local int mine; int mf_next(void) { return ++mine; }'
    fires symbols 'mutable global: mine'
    archives '__attribute__((common)) int mf_shared;'
    fires symbols 'mutable global: mf_shared'
    archives 'int step(void) { return 1; }'
    fires symbols 'without the prefix mf_: step'
    archives 'int mf_other(void) { return 2; }'
    fires symbols 'libmayfly-tools.a(other.o): defined twice: mf_other, also in libmayfly.a(thing.o)'
    archives 'extern void exit(int); void mf_quit(void) { exit(1); }'
    fires symbols 'calls exit'
    archives 'extern int puts(const char *); void mf_tell(void) { puts("a"); }'
    fires symbols 'calls puts'
    archives '#include <setjmp.h>
        void mf_away(jmp_buf *place) { longjmp(*place, 1); }'
    fires symbols 'calls longjmp'
    archives '#include <setjmp.h>
        static void away(jmp_buf *place) { longjmp(*place, 1); }
        int mf_safe(void) { jmp_buf here; if (setjmp(here)) return 1; away(&here); return 0; }'
    silent symbols 'a jump that lands in the same file'
    archives 'extern double sin(double); double mf_wave(double x) { return sin(x); }'
    fires symbols 'calls sin'
    archives 'static const char *const names[] = {"a", "b"};
        const char *mf_name(int i) { return names[i]; }
        static int inner(void) { return 4; } const int mf_table[2] = {1, 2};
        int mf_value(void) { return inner(); }'
    silent symbols 'constant tables'
    rm -f "$work/libmayfly.a"
    fires symbols 'libmayfly.a'
}

# function LINES: a C file with one function of that many lines.
function_of() {
    {
        printf 'int mf_long(int a,\n            int b)\n{\n'
        yes '    a += b;' | head -n $(($1 - 5))
        printf '    return a;\n}\n'
    } >"$work/src/base/long.c"
}

test_sizes() {
    mkdir -p "$work/src/base"
    function_of 151
    fires sizes 'long.c:1: mf_long: 151 lines'
    function_of 150
    silent sizes 'a function of 150 lines'
    { echo 'int mf_other(int a) {' && sed 1,3d "$work/src/base/long.c"; } >"$work/src/base/other.c"
    sed -i '2,6s/.*/    a += 2;\n    a += 3;/' "$work/src/base/other.c"
    fires sizes 'other.c:1: mf_other: 153 lines'
    rm "$work/src/base"/*
    yes '// a line' | head -n 801 >"$work/src/base/tall.c"
    fires sizes 'tall.c: 801 lines'
    sed -i 1d "$work/src/base/tall.c"
    silent sizes 'a file of 800 lines'
    python3 "$lint/sizes.py" "$work" | grep -q 'warning: .*tall.c: 800 lines' ||
        { echo 'FAILED: sizes does not warn' && failures=$((failures + 1)); }
    rm -r "$work/src"
}

# includes FILE HEADER
includes() {
    mkdir -p "$work/$(dirname "$1")"
    printf '#include <mayfly/world.h>\n#include "%s"\n' "$2" >"$work/$1"
}

test_floors() {
    while read -r file header; do
        includes "$file" "$header"
        fires floors "$(basename "$file"):2: \"$header\""
        rm -r "$work/src"
    done <<'END'
src/math/a.c model/model.h
src/base/a.c math/scalar.h
src/motion/points/a.c control/gp.h
src/world/a.c motion/points/points.h
src/terrain/a.c contact/tree.h
src/world/a.c search/search.h
src/sense/a.h scene/build.h
src/terrain/a.c import/package.h
src/camera/a.c image/image.h
src/image/a.c model/model.h
src/base/a.c ../math/scalar.h
src/base/a.c cellar/wine.h
END
    mkdir -p "$work/src/cellar" && : >"$work/src/cellar/a.c"
    fires floors 'cellar is no room'
    rm -r "$work/src"
    while read -r file header; do
        includes "$file" "$header"
    done <<'END'
src/motion/points/a.c world/attach.h
src/motion/points/b.c math/lane.h
src/motion/points/c.c motion/points/points.h
src/import/a.c terrain/build.h
src/import/b.c import/package.h
src/import/c.c image/image.h
src/view/a.c image/image.h
src/search/a.c world/world.h
src/base/a.c memory.h
apps/mayfly/a.c search/search.h
END
    silent floors 'downward includes'
    rm -r "$work/src" "$work/apps"
    objects="$work/CMakeFiles/mayfly.dir/src"
    mkdir -p "$objects/world" "$objects/motion" "$work/src/world" "$work/src/motion"
    touch "$work/src/world/below.c" "$work/src/world/up.c" "$work/src/motion/above.c"
    echo 'int mf_below(void) { return 1; }' | cc -x c -c -o "$objects/world/below.c.o" -
    echo 'int mf_below(void); int mf_above(void) { return mf_below(); }' |
        cc -x c -c -o "$objects/motion/above.c.o" -
    silent floors 'a call down'
    echo 'int mf_above(void); int mf_up(void) { return mf_above(); }' |
        cc -x c -c -o "$objects/world/up.c.o" -
    fires floors 'src/world/up.c: calls mf_above of src/motion/above.c'
    rm -r "$work/CMakeFiles"
}

test_text() {
    echo 'project(mayfly VERSION 3.1.4 LANGUAGES C)' >"$work/CMakeLists.txt"
    printf '# Changelog\n\n## [3.1.3]\n' >"$work/CHANGELOG.md"
    fires text 'no heading .* for the version'
    printf '# Changelog\n\n## [3.1.4] - 2026-01-01\n\n[here](here.md) [there](https://a.b)\n' \
        >"$work/CHANGELOG.md"
    fires text 'link to here.md'
    : >"$work/here.md"
    silent text 'a clean tree'
    while read -r content complaint; do
        # shellcheck disable=SC2059 # the escapes are meant
        printf "$content" >"$work/bad.c"
        fires text "bad.c.*$complaint"
    done <<'END'
int\040a;\040\n blank at the end
\tint\040a;\n tab
int\040a;\r\n carriage return
int\040a; newline
int\040a;\n\n newline
//\040TO\104O\n unfinished
\377\376\n UTF-8
END
    rm "$work/bad.c"
    yes line | head -n 121 >"$work/README.md"
    fires text 'README.md: 121 lines'
    rm "$work/CHANGELOG.md" "$work/README.md"
    fires text 'CHANGELOG.md: missing'
}

test_callers() {
    mkdir -p "$work/include/mayfly" "$work/examples" "$work/src" "$work/python/tests"
    echo 'MF_API int mf_lonely(void);' >"$work/include/mayfly/a.h"
    echo 'int mf_lonely(void) { return 1; }' >"$work/src/a.c"
    echo 'mf_lonely()' >"$work/python/tests/a.py"
    fires callers 'a.h:1: mf_lonely has no caller'
    echo 'int main(void) { return mf_lonely(); }' >"$work/examples/a.c"
    silent callers 'an example calls it'
    rm -r "$work/include" "$work/examples" "$work/src" "$work/python"
}

test_ticks() {
    mkdir -p "$work/src/x"
    for line in 'if (all->found && all->tick == run->tick)' 'if (run->tick >= all->apply)' \
        'uint32_t now = (uint32_t)run->tick + 1; if (!(docks->met[port] != now))'; do
        echo "$line" | tr ';' '\n' | sed 's/now = .*/&;/' >"$work/src/x/a.c"
        fires ticks 'src/x/a.c'
    done
    echo 'if (run->tick % plan->interval == 0) all->tick = run->tick;' >"$work/src/x/a.c"
    silent ticks 'a rate'
    rm -r "$work/src"
}

test_units
test_callers
test_ticks
test_symbols
test_sizes
test_floors
test_text
[ "$failures" = 0 ] && echo 'every rule fires'
[ "$failures" = 0 ]
