#!/bin/sh
# The installed library serves other people's programs: through CMake and through pkg-config, the
# core alone and with the tools, also after the installation has moved; every header stands alone in
# C11 and in C++17.
# usage: test_install.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
cc=${CC:-gcc}
grep -q '^MAYFLY_SANITIZE:STRING=$' "$build/CMakeCache.txt" ||
    { echo 'skipped: a build with sanitizers is not for others' && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() {
    printf '%s\n' "-- $*"
}

# quietly COMMAND...: shows the output only when the command fails.
quietly() {
    "$@" >"$work/out" 2>&1 || {
        cat "$work/out"
        echo "FAILED: $*"
        exit 1
    }
}

say 'install, then move the whole prefix'
quietly cmake --install "$build" --prefix "$work/first"
mkdir "$work/new home"
mv "$work/first" "$work/new home/prefix"
prefix="$work/new home/prefix"
data=$prefix/share/mayfly
[ -f "$data/models/hexapod.urdf" ] || { echo "FAILED: no models in $data" && exit 1; }
[ "$(ls "$data/scenes")" = "$(ls "$source/scenes")" ] || { echo 'FAILED: scenes differ' && exit 1; }
if grep -rlF "$build" "$prefix/lib" "$prefix/include" --include='*.cmake' --include='*.pc'; then
    echo 'FAILED: these files name the build folder'
    exit 1
fi

say 'every header alone, as C11 and as C++17'
cxx=$(command -v g++ || command -v clang++-14 || true)
[ -n "$cxx" ] || say 'no C++ compiler: C++ is not tried'
for header in "$prefix"/include/mayfly/*.h; do
    echo "#include <mayfly/${header##*/}>" >"$work/header.c"
    quietly "$cc" -std=c11 -pedantic -Wall -Wextra -Werror -I"$prefix/include" -fsyntax-only \
        "$work/header.c"
    [ -z "$cxx" ] || quietly "$cxx" -x c++ -std=c++17 -pedantic -Wall -Wextra -Werror \
        -I"$prefix/include" -fsyntax-only "$work/header.c"
done

for want in core tools; do
    say "find_package: $want"
    quietly cmake -S "$source/tests/house/downstream" -B "$work/$want" -G Ninja -DWANT=$want \
        "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_C_COMPILER=$cc"
    quietly cmake --build "$work/$want"
    "$work/$want/downstream" "$data"
done

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig:$prefix/lib/$(uname -m)-linux-gnu/pkgconfig"
for want in core tools; do
    module=mayfly
    [ $want = core ] || module=mayfly-tools
    for static in '' --static; do
        say "pkg-config $static $module"
        flags=$(pkg-config $static --cflags --libs "$module")
        # The prefix holds a blank, which pkg-config escapes: let the shell read it.
        eval "quietly \"$cc\" -std=c11 -Wall -Wextra -pedantic -Werror -o \"$work/$want.out\" \
            \"$source/tests/house/downstream/$want.c\" $flags"
        "$work/$want.out" "$data"
    done
done
[ "$(pkg-config --modversion mayfly)" = "$(sed -n 's/^project(mayfly VERSION \([^ ]*\).*/\1/p' \
    "$source/CMakeLists.txt")" ] || { echo 'FAILED: version of mayfly.pc' && exit 1; }

say 'what does not fit is refused'
printf 'cmake_minimum_required(VERSION 3.22)\nproject(x C)\nfind_package(mayfly %s)\n%s\n' \
    '0.1 COMPONENTS wings' 'if(mayfly_FOUND)
message(FATAL_ERROR found)
endif()' >"$work/CMakeLists.txt"
quietly cmake -S "$work" -B "$work/refused" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix"
sed -i 's/0.1 COMPONENTS wings/9.0/' "$work/CMakeLists.txt"
quietly cmake -S "$work" -B "$work/refused" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix"

say 'the installed command'
quietly "$prefix/bin/mayfly" info "$data/models/hexapod.urdf"
quietly "$prefix/bin/mayfly" --help
for shared in bash-completion/completions/mayfly zsh/site-functions/_mayfly man/man1/mayfly.1; do
    [ -s "$prefix/share/$shared" ] || { echo "FAILED: no share/$shared" && exit 1; }
done
"$prefix/bin/mayfly" help man | cmp - "$prefix/share/man/man1/mayfly.1"
echo 'the installation serves others'
