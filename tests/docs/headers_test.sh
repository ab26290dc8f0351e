#!/usr/bin/env bash
# Every public header compiles alone, and so does the README's program, by each of these compilers and without a warning.
#   headers_test.sh SOURCE COMPILER…
set -euo pipefail
source=$1
shift
warnings=(-Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror)
includes=(-I "$source/include" -I "$source/http_cache/include")
checked=0
for compiler in "$@"; do
  compile=("$compiler" -std=c++20 -fsyntax-only "${warnings[@]}" "${includes[@]}")
  while read -r header; do
    echo "#include \"$header\"" | "${compile[@]}" -x c++ -
    checked=$((checked + 1))
  done < <(cd "$source" && find include/posy http_cache/include/posy -name '*.hpp' | sed 's#.*include/##' | sort)
  "${compile[@]}" "$source/examples/ten_lines.cpp"
done
echo "$checked headers"
[ "$checked" -ge 40 ]
