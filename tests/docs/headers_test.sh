#!/usr/bin/env bash
# Every public header compiles alone, and so does the README's program, without a warning. Further compilers get all of
# them as one program: a header that lacks another lacks it by any compiler.
#   headers_test.sh SOURCE COMPILER…
set -euo pipefail
cd "$1"
shift
sources=$({ find include/posy http_cache/include/posy -name '*.hpp'; echo examples/ten_lines.cpp; } | sort)
[ "$(wc -l <<<"$sources")" -ge 40 ]
export strict='-std=c++20 -fsyntax-only -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror -I . -I include -I http_cache/include -x c++ -'
# A header is compiled as the only line of a program: alone, and not as the file that #pragma once speaks of.
xargs -P "$(nproc)" -n 1 sh -c 'echo "#include \"$1\"" | "$0" $strict' "$1" <<<"$sources"
for compiler in "${@:2}"; do
  sed 's/.*/#include "&"/' <<<"$sources" | "$compiler" $strict
done
