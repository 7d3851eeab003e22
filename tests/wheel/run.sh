#!/bin/sh
# run.sh WHEELS [VERSION...]: what a user does with the wheels in that folder, on these versions of Python (3.9 to 3.13): pip
# installs into a new virtual environment, without compilers in the PATH, and the README's first program runs on 1 and 3 ranks, by
# mpirun and by the command. Products, factorizations and transforms (numerics.py) run without the system's BLAS and FFTW. Prints how
# long the download of the dependencies takes, and how long it takes from pip to the result, and fails if it is more in all than
# PARTITA_WHEEL_SECONDS (10, for a machine on which nothing else runs). What is not here is skipped by name.
set -eu
wheels=$(cd "$1" && pwd)
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { printf 'wheel: FAILED: %s\n' "$*"; exit 1; }
say() { printf 'wheel: %s\n' "$*"; }

# Launchers look for their own helpers: Open MPI for ssh, MPICH for hydra_pmi_proxy next to itself.
mkdir "$work/bin"
for tool in sh env uname mpirun mpirun.openmpi mpirun.mpich ssh hydra_pmi_proxy; do
  path=$(command -v "$tool") && ln -s "$(readlink -f "$path")" "$work/bin/$tool"
done || true
unset OPENBLAS_CORETYPE # doctor warns of kernels that it forces
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
sed -n '/^In Python, `first.py`:$/,/^```$/p' "$root/README.md" | sed '1,/^```python$/d;$d' >"$work/first.py"
grep -q initialize "$work/first.py" || fail "README.md has no first.py"

# As on a machine without these libraries: the loader refuses empty files, and does not go on searching.
mkdir "$work/hidden"
for library in openblas.so.0 fftw3.so.3 fftw3f.so.3 fftw3_threads.so.3 fftw3f_threads.so.3; do : >"$work/hidden/lib$library"; done

user() { env PATH="$work/venv/bin:$work/bin" LD_LIBRARY_PATH="$work/hidden" "$@"; }

# expect TEXT COMMAND...
expect() {
  text=$1
  shift
  user "$@" >"$work/output" 2>&1 || fail "$*: $(cat "$work/output")"
  grep -q "^$text" "$work/output" || fail "$*: $(cat "$work/output")"
}

# on_ranks PROGRAM TEXT: on 1 and 3 ranks, by the command and by mpirun
on_ranks() {
  for ranks in 1 3; do expect "$ranks ranks, $2" partita run -q --threads $ranks -- python "$1"; done
  for launcher in mpirun.openmpi mpirun.mpich; do
    user sh -c "command -v $launcher" >/dev/null || { say "skipped: there is no $launcher"; continue; }
    oversubscribe=$([ $launcher = mpirun.mpich ] || echo "--oversubscribe --bind-to none")
    # The options are words.
    # shellcheck disable=SC2086
    for ranks in 1 3; do expect "$ranks ranks, $2" $launcher -n $ranks $oversubscribe python "$1"; done
    expect "3 ranks, $2" partita run -q --launcher $launcher -n 3 -- python "$1"
  done
}

# as_user PYTHON
as_user() {
  "$1" -m venv --clear "$work/venv"
  rm -rf "$work/dependencies"
  begin=$(date +%s%3N)
  user pip download -q --disable-pip-version-check --no-cache-dir --only-binary :all: -d "$work/dependencies" numpy pyfftw \
    >"$work/output" 2>&1 || { say "skipped: pip cannot get NumPy and pyFFTW for $("$1" -V)"; return 0; }
  downloaded=$(date +%s%3N)
  user pip install -q --disable-pip-version-check --no-index --find-links "$wheels" --find-links "$work/dependencies" partita ||
    fail "pip install on $("$1" -V)"
  expect "1 ranks, equal: True" python first.py
  end=$(date +%s%3N)
  on_ranks first.py "equal: True"
  on_ranks "$root/tests/wheel/numerics.py" "as NumPy: True"
  expect "BLAS *ok" partita doctor
  grep -A 1 '^BLAS' "$work/output" | grep -q "$work/venv" || fail "another BLAS: $(cat "$work/output")"
  grep -A 1 '^FFT *ok' "$work/output" | grep -q "$work/venv" || fail "another FFTW: $(cat "$work/output")"
  module=$(user python -c 'import partita._core; print(partita._core.__file__)')
  say "$(user python -V): $(basename "$module"), $((downloaded - begin)) ms for dependencies," \
    "$((end - downloaded)) ms from pip install to the result"
  limit=${PARTITA_WHEEL_SECONDS:-10}
  [ $((end - begin)) -le $((limit * 1000)) ] ||
    fail "$((end - begin)) ms from pip to the result, more than $limit s (PARTITA_WHEEL_SECONDS)"
}

cd "$work"
for compiler in cc gcc c++ g++ clang nvcc; do
  if user sh -c "command -v $compiler"; then fail "$compiler is in the user's PATH"; fi
done
[ $# -gt 0 ] || set -- 3.9 3.10 3.11 3.12 3.13
for version; do
  if python=$("$root/scripts/find-python" $version); then as_user "$python"; else say "skipped: there is no Python $version"; fi
done
