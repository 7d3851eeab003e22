#!/bin/sh
# run.sh BUILD SOURCE COMPILER [COMMAND TO RUN RANKS...]: installs the build, moves the installed tree, builds
# the first program against it through find_package and through pkg-config, and runs both.
set -eu
build=$1 source=$2 compiler=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/installed" >/dev/null
mv "$work/installed" "$work/moved"
prefix=$work/moved

echo "consumer: find_package"
cmake -S "$here" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" \
  -DFIRST_SOURCE="$source" >/dev/null
cmake --build "$work/consumer"
(cd "$work" && "$@" "$work/consumer/first")

echo "consumer: pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name partita.pc)")
export PKG_CONFIG_PATH
# The flags are words.
# shellcheck disable=SC2046
"$compiler" -std=c++20 "$source" $(pkg-config --cflags --libs partita) \
  -Wl,-rpath,"$(pkg-config --variable=libdir partita)" -o "$work/first"
(cd "$work" && "$@" "$work/first")

if [ -x "$prefix/bin/partita" ]; then
  echo "consumer: the installed command"
  "$prefix/bin/partita" --help >/dev/null
fi
