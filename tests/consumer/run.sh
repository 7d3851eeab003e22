#!/bin/sh
# run.sh BUILD SOURCE COMPILER OTHERS [COMMAND TO RUN RANKS...]: installs the build, moves the installed tree, builds
# the first program against it as README.md says, through find_package and through pkg-config, and runs it. OTHERS: a
# line for each command that runs ranks of another MPI.
set -eu
build=$1 source=$2 compiler=$3 others=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
readme=$here/../../README.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/installed" >/dev/null
mv "$work/installed" "$work/moved"
prefix=$work/moved

if [ "$(basename "$source")" = first.cpp ]; then
  awk '/^```cpp$/ { on = 1; next } /^```$/ { on = 0 } on' "$readme" | diff - "$source"
fi

echo "consumer: find_package"
cmake -S "$here" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" \
  -DFIRST_SOURCE="$source" >/dev/null
cmake --build "$work/consumer"
(cd "$work" && "$@" "$work/consumer/first")

echo "consumer: the same program and library under every MPI"
library=$(find "$prefix" -name libpartita.so)
if ldd "$library" "$work/consumer/first" | grep -i 'libmpi\|not found'; then exit 1; fi
printf %s "$others" | while read -r command; do
  (cd "$work" && $command "$work/consumer/first" </dev/null)
done
if [ $# -gt 0 ]; then
  echo "consumer: a launcher of an MPI that there is no module, or no library for"
  refused() {
    if (cd "$work" && "$@" "$work/consumer/first") >"$work/output" 2>&1; then exit 1; fi
  }
  modules=$(dirname "$library")/partita
  mv "$modules" "$modules.away"
  refused "$@"
  [ "$(grep -c 'this Partita has no module (it has: none)' "$work/output")" = 2 ] || { cat "$work/output"; exit 1; }
  mv "$modules.away" "$modules"
  refused env PARTITA_MPI_LIBRARY=/nowhere/libmpi.so "$@"
  grep -q 'PARTITA_MPI_LIBRARY names it, but no MPI library can be opened: /nowhere' "$work/output" ||
    { cat "$work/output"; exit 1; }
  if [ -n "$others" ]; then
    of_another=libmpich.so.12
    echo "$others" | grep -q openmpi && of_another=libmpi.so.40
    refused env PARTITA_MPI_LIBRARY=$of_another "$@"
    grep -q 'the launcher has started 2 ranks, but .* has only one' "$work/output" ||
      { cat "$work/output"; exit 1; }
  fi
  "$work/consumer/first" # alone: it needs no MPI
fi

echo "consumer: pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name partita.pc)")
export PKG_CONFIG_PATH
# The flags are words.
# shellcheck disable=SC2046
"$compiler" -std=c++20 "$source" $(pkg-config --cflags --libs partita) \
  -Wl,-rpath,"$(pkg-config --variable=libdir partita)" -o "$work/first"
(cd "$work" && "$@" "$work/first")

echo "consumer: pkg-config, the library by LD_LIBRARY_PATH"
# shellcheck disable=SC2046
"$compiler" -std=c++20 "$source" $(pkg-config --cflags --libs partita) -o "$work/first"
(cd "$work" && LD_LIBRARY_PATH="$(pkg-config --variable=libdir partita)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@" "$work/first")

echo "consumer: ranks as threads"
# shellcheck disable=SC2046
"$compiler" -std=c++20 "$here/threads.cpp" $(pkg-config --cflags --libs partita) \
  -Wl,-rpath,"$(pkg-config --variable=libdir partita)" -o "$work/threads"
"$work/threads"

if [ -x "$prefix/bin/partita" ]; then
  echo "consumer: the installed command"
  "$prefix/bin/partita" --help >/dev/null
  if [ $# -gt 0 ]; then
    (cd "$work" && "$prefix/bin/partita" run -q -n 2 -- "$work/consumer/first")
  fi
fi
