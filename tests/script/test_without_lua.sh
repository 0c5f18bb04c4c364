#!/bin/sh
# Where Lua is missing, Mayfly configures, says so, and refuses a scene with scripts in one line. Only
# what differs is compiled: the command is linked again, with it in the place of scripts.
# usage: test_without_lua.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*"
    exit 1
}

# pkg-config as on a computer without liblua5.4-dev.
cat >"$work/pkg-config" <<'END_OF_TOOL'
#!/bin/sh
case " $* " in *lua*) exit 1 ;; esac
exec pkg-config "$@"
END_OF_TOOL
chmod +x "$work/pkg-config"
cmake -S "$source" -B "$work/build" -G Ninja -DMAYFLY_COPIES=native -DMAYFLY_TESTS=OFF \
    -DMAYFLY_EXAMPLES=OFF -DMAYFLY_WEB=OFF "-DPKG_CONFIG_EXECUTABLE=$work/pkg-config" \
    >"$work/log" 2>&1 || { cat "$work/log" && fail 'it does not configure'; }
grep -q 'No Lua 5.4 .*scenes with scripts will be refused' "$work/log" ||
    { cat "$work/log" && fail 'nothing was said of Lua'; }
object=CMakeFiles/mayfly_script.dir/src/script/missing.c.o
ninja -C "$work/build" "$object" >"$work/log" 2>&1 ||
    { cat "$work/log" && fail 'it does not compile'; }
if ninja -C "$work/build" -t targets all | grep -q 'src/script/engine'; then
    fail 'the build has parts that need Lua'
fi

# The last command of the build is the link of the program.
cd "$build"
ninja -t commands mayfly | tail -n 1 | sed "s# -o mayfly # -o $work/mayfly #
    s# libmayfly_script.a # $work/build/$object #g; s# [^ ]*liblua[^ ]*##g; s# -llua[^ ]*##g" \
    >"$work/link.sh"
sh "$work/link.sh" || fail 'it does not link without Lua'

cd "$work"
code=0
./mayfly run "$source/scenes/pushes.yaml" >out 2>err || code=$?
[ "$code" = 1 ] || { cat out err && fail "a scene with scripts: exit code $code, expected 1"; }
[ "$(wc -l <err)" = 1 ] || { cat err && fail 'expected one line'; }
line=$(grep -n '^    file: pushes.lua' "$source/scenes/pushes.yaml" | cut -d : -f 1)
[ -n "$line" ] || fail 'scenes/pushes.yaml has another form'
grep -q "pushes.yaml:$line:.* built without Lua 5.4 (Debian's liblua5.4-dev)" err ||
    { cat err && fail "expected the file, line $line and the package"; }
./mayfly run "$source/models/hexapod.urdf" --duration 0.01 >out 2>&1 ||
    { cat out && fail 'a scene without scripts does not run'; }
echo 'without Lua, scenes with scripts are refused'
