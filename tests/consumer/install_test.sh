#!/usr/bin/env bash
# Installs the build into a fresh prefix and uses it from outside: by find_package and by pkg-config.
#   install_test.sh SOURCE BUILD [SANITIZERS]
set -euo pipefail
source=$1 build=$2 sanitize=${3:+-fsanitize=$3}
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --prefix "$prefix" >/dev/null
example=$source/examples/ten_lines.cpp

cmake -S "$source/tests/consumer" -B "$prefix/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLE="$example" \
  -DCMAKE_CXX_FLAGS="$sanitize" >/dev/null
cmake --build "$prefix/consumer" >/dev/null
"$prefix/consumer/consumer"
"$prefix/consumer/cached"

pc=$(dirname "$(find "$prefix" -name posy.pc)")
# shellcheck disable=SC2046
g++ -std=c++20 $sanitize "$example" -o "$prefix/by-pkg-config" \
  $(PKG_CONFIG_PATH=$pc pkg-config --define-variable=prefix="$prefix" --static --cflags --libs posy)
"$prefix/by-pkg-config"

"$prefix/bin/posy" --version
for file in man/man1/posy.1 bash-completion/completions/posy zsh/site-functions/_posy fish/vendor_completions.d/posy.fish; do
  test -s "$prefix/share/$file"
done
