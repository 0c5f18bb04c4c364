#!/bin/sh
# Makes the page of films and live runs: web/make.sh FOLDER leaves FOLDER/page.html. The packages of
# deno.lock go to FOLDER/node_modules. CMake runs it when it configures the build. No Node: deno.sh gets Deno
# from PyPI (requirements.txt has version and checksums), which gets the packages from npm. Both stay in the
# user's cache (~/.cache/mayfly, ~/.cache/deno), so later builds need no network.
set -eu
folder=$1
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cp "$here/package.json" "$here/deno.lock" "$here/build.mjs" "$folder/"
if ! (cd "$folder" && sh "$here/deno.sh" install --frozen --quiet) 2>"$folder/install.log"; then
    grep -a '^web: ' "$folder/install.log" >&2 || echo \
        "web: cannot get packages of npm ($(grep -a -m 1 '^error: ' "$folder/install.log"))" >&2
    exit 1
fi
sh "$here/deno.sh" run --quiet --cached-only --allow-read --allow-write="$folder" --allow-run \
    --allow-env "$folder/build.mjs" "$here/src" "$folder/page.html"
