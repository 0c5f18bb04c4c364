#!/bin/sh
# Makes the page of films and live runs: web/make.sh FOLDER leaves FOLDER/page.html. The packages of
# package-lock.json go to FOLDER/node_modules, once per lock file, by npm, which takes what it has in
# its cache before it asks the network.
set -eu
folder=$1
here=$(cd "$(dirname "$0")" && pwd)
command -v npm >/dev/null || {
    echo 'web: npm is missing (Debian: npm)' >&2
    exit 1
}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if ! cmp -s "$here/package-lock.json" "$folder/installed-lock.json"; then
    rm -rf "$folder/node_modules" "$folder/installed-lock.json"
    cp "$here/package.json" "$here/package-lock.json" "$folder/"
    (cd "$folder" && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error >&2)
    cp "$here/package-lock.json" "$folder/installed-lock.json"
fi
NODE_PATH=$folder/node_modules node "$here/build.mjs" "$folder/page.html"
