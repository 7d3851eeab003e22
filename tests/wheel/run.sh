#!/bin/sh
# run.sh WHEELS [VERSION...]: what a user does with the wheels in that folder, on these versions of Python (3.9 to 3.13): pip
# installs into a new virtual environment, without compilers in the PATH, and the README's first program runs on 1 and 3 ranks, by
# mpirun and by the command. Prints how long it takes from pip to the result (10 s at most where nothing else runs). What is not here
# is skipped by name.
set -eu
wheels=$(cd "$1" && pwd)
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { printf 'wheel: FAILED: %s\n' "$*"; exit 1; }
say() { printf 'wheel: %s\n' "$*"; }

# Launchers look for their own helpers: Open MPI for ssh, MPICH for hydra_pmi_proxy beside itself.
mkdir "$work/bin"
for tool in sh env uname mpirun mpirun.openmpi mpirun.mpich ssh hydra_pmi_proxy; do
  path=$(command -v "$tool") && ln -s "$(readlink -f "$path")" "$work/bin/$tool"
done || true
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
sed -n '/^In Python, `first.py`:$/,/^```$/p' "$root/README.md" | sed '1,/^```python$/d;$d' >"$work/first.py"
grep -q initialize "$work/first.py" || fail "README.md has no first.py"

user() { env PATH="$work/venv/bin:$work/bin" "$@"; }

# expect RANKS COMMAND...
expect() {
  ranks=$1
  shift
  user "$@" >"$work/output" 2>&1 || fail "$*: $(cat "$work/output")"
  grep -q "^$ranks ranks, equal: True" "$work/output" || fail "$*: $(cat "$work/output")"
}

# as_user PYTHON
as_user() {
  "$1" -m venv --clear "$work/venv"
  # What the time does not contain: how fast this machine's network is.
  user pip download -q --disable-pip-version-check --no-deps -d "$work/numpy" numpy >"$work/output" 2>&1 ||
    { say "skipped: pip cannot get NumPy for $("$1" -V)"; return 0; }
  begin=$(date +%s%3N)
  user pip install -q --disable-pip-version-check --no-index --find-links "$wheels" --find-links "$work/numpy" partita ||
    fail "pip install on $("$1" -V)"
  expect 1 python first.py
  took=$(($(date +%s%3N) - begin))
  for ranks in 1 3; do expect $ranks partita run -q --threads $ranks -- python first.py; done
  for launcher in mpirun.openmpi mpirun.mpich; do
    user sh -c "command -v $launcher" >/dev/null || { say "skipped: there is no $launcher"; continue; }
    oversubscribe=$([ $launcher = mpirun.mpich ] || echo "--oversubscribe --bind-to none")
    # The options are words.
    # shellcheck disable=SC2086
    for ranks in 1 3; do expect $ranks $launcher -n $ranks $oversubscribe python first.py; done
    expect 3 partita run -q --launcher $launcher -n 3 -- python first.py
  done
  user partita doctor >"$work/output" 2>&1 || fail "partita doctor: $(cat "$work/output")"
  module=$(user python -c 'import partita._core; print(partita._core.__file__)')
  say "$(user python -V): $(basename "$module"), $took ms from pip install to the result"
}

cd "$work"
for compiler in cc gcc c++ g++ clang nvcc; do
  if user sh -c "command -v $compiler"; then fail "$compiler is in the user's PATH"; fi
done
[ $# -gt 0 ] || set -- 3.9 3.10 3.11 3.12 3.13
for version; do
  if python=$("$root/scripts/find-python" $version); then as_user "$python"; else say "skipped: there is no Python $version"; fi
done
