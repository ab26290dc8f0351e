#!/usr/bin/env bash
# A project that takes Posy in with FetchContent builds the core library alone, and installs nothing of it.
#   fetch_test.sh SOURCE
set -euo pipefail
source=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cmake -S "$source/tests/consumer/fetched" -B "$place/build" -G Ninja -DPOSY="$source" >/dev/null
cmake --build "$place/build" >/dev/null
"$place/build/fetched"
cmake --install "$place/build" --prefix "$place/prefix" >/dev/null
installed=$(cd "$place/prefix" && find . -type f)
[ "$installed" = ./bin/fetched ] || { echo "installed: $installed"; exit 1; }
libraries=$(cd "$place/build" && find . -name '*.a')
[ "$(wc -l <<<"$libraries")" = 1 ] || { echo "built: $libraries"; exit 1; }
