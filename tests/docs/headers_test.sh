#!/usr/bin/env bash
# Every public header compiles alone, and so does the README's program, by each of these compilers and without a warning.
#   headers_test.sh SOURCE COMPILER…
set -euo pipefail
cd "$1"
shift
sources=$({ find include/posy http_cache/include/posy -name '*.hpp'; echo examples/ten_lines.cpp; } | sort)
[ "$(wc -l <<<"$sources")" -ge 40 ]
for compiler in "$@"; do
  # A header is compiled as the only line of a program: alone, and not as the file that #pragma once speaks of.
  xargs -P "$(nproc)" -n 1 sh -c 'echo "#include \"$1\"" | "$0" -std=c++20 -fsyntax-only -Wall -Wextra -Wconversion \
    -Wshadow -Wpedantic -Werror -I . -I include -I http_cache/include -x c++ -' "$compiler" <<<"$sources"
done
