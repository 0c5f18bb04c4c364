#!/bin/sh
# Runs Deno: web/deno.sh ARGUMENTS. Where the version of requirements.txt is not in the user's cache it
# comes from PyPI, by pip. Packages of npm go to Deno's own cache; with both filled nothing needs a
# network.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's/^deno==\([^ ]*\).*/\1/p' "$here/requirements.txt")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/mayfly
deno=$cache/deno-$version

# Into a folder of its own and then renamed, so that a try that breaks off leaves nothing that is used.
fetch() {
    mkdir -p "$cache"
    new=$(mktemp -d "$cache/new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    if ! python3 -m venv "$new" >"$new.log" 2>&1; then
        echo 'web: cannot make an environment of Python (Debian: python3-venv)' >&2
    elif ! "$new/bin/pip" -q --disable-pip-version-check --retries 1 install --require-hashes \
        -r "$here/requirements.txt" >"$new.log" 2>&1; then
        echo "web: cannot get deno $version from PyPI ($(grep -a ERROR "$new.log" | tail -n 1))" >&2
    else
        mv "$new/bin/deno" "$deno"
    fi
    rm -rf "$new" "$new.log"
    trap - EXIT
}

[ -x "$deno" ] || fetch
[ -x "$deno" ] || exit 1
# Certificates of the system count too: networks with a proxy of their own have theirs there.
export DENO_TLS_CA_STORE="${DENO_TLS_CA_STORE-system,mozilla}" DENO_NO_UPDATE_CHECK=1 NO_COLOR=1
exec "$deno" "$@"
