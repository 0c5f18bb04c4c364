#!/bin/sh
# Where the optional libraries are missing, Mayfly configures and says so. Without Lua a scene with
# scripts is refused in one line; without zstd MCAP recordings are not compressed, and compressed ones
# are refused. Only what differs is compiled: the command is linked again, with it in front.
# usage: test_without_libraries.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*"
    exit 1
}

# pkg-config as on a computer without liblua5.4-dev and libzstd-dev.
cat >"$work/pkg-config" <<'END_OF_TOOL'
#!/bin/sh
case " $* " in *lua* | *zstd*) exit 1 ;; esac
exec pkg-config "$@"
END_OF_TOOL
chmod +x "$work/pkg-config"
cmake -S "$source" -B "$work/build" -G Ninja -DMAYFLY_COPIES=native -DMAYFLY_TESTS=OFF \
    -DMAYFLY_EXAMPLES=OFF -DMAYFLY_WEB=OFF "-DPKG_CONFIG_EXECUTABLE=$work/pkg-config" \
    >"$work/log" 2>&1 || { cat "$work/log" && fail 'it does not configure'; }
grep -q 'No Lua 5.4 .*scenes with scripts will be refused' "$work/log" ||
    { cat "$work/log" && fail 'nothing was said of Lua'; }
grep -q 'No zstd .*MCAP recordings will not be compressed' "$work/log" ||
    { cat "$work/log" && fail 'nothing was said of zstd'; }
script=CMakeFiles/mayfly_tools.dir/src/scene/script/missing.c.o
compress=CMakeFiles/mayfly_tools.dir/src/record/compress_missing.c.o
ninja -C "$work/build" "$script" "$compress" >"$work/log" 2>&1 ||
    { cat "$work/log" && fail 'it does not compile'; }
if ninja -C "$work/build" -t targets all | grep -E 'src/scene/script/engine|src/record/compress_zstd'; then
    fail 'the build has parts that need them'
fi

# The last command of the build is the link of the program.
cd "$build"
ninja -t commands mayfly | tail -n 1 | sed "s# -o mayfly # -o $work/mayfly #
    s# libmayfly-tools.a # $work/build/$script $work/build/$compress libmayfly-tools.a #
    s# [^ ]*liblua[^ ]*##g; s# -llua[^ ]*##g; s# [^ ]*libzstd[^ ]*##g; s# -lzstd##g" >"$work/link.sh"
sh "$work/link.sh" || fail 'it does not link without them'

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

./mayfly run "$source/models/hexapod.urdf" --duration 1 --record plain.mcap >out 2>&1 &&
    ./mayfly info plain.mcap >out 2>&1 || { cat out && fail 'it does not record'; }
grep -q '^plain.mcap: recording, MCAP, by Mayfly' out || { cat out && fail 'it is compressed'; }
# The build itself has zstd, if it is installed.
if grep -q 'ZSTD_FOUND:INTERNAL=1' "$build/CMakeCache.txt"; then
    "$build/mayfly" run "$source/models/hexapod.urdf" --duration 1 --record small.mcap >out 2>&1
    "$build/mayfly" info small.mcap | grep -q '^small.mcap: recording, MCAP, compressed by zstd' ||
        fail 'it is not compressed'
    [ "$(wc -c <small.mcap)" -lt "$(wc -c <plain.mcap)" ] || fail 'compression saves nothing'
    "$build/mayfly" info plain.mcap >out 2>&1 || { cat out && fail 'an uncompressed one is not read'; }
    code=0
    ./mayfly info small.mcap >out 2>err || code=$?
    [ "$code" = 1 ] && [ "$(wc -l <err)" = 1 ] &&
        grep -q "small.mcap: .*built without it (Debian's libzstd-dev)" err ||
        { cat out err && fail "compressed, without zstd: exit code $code, expected 1 and one line"; }
fi
echo 'without Lua and zstd, what needs them is refused'
