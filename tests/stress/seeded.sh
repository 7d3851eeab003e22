#!/bin/sh
# seeded.sh COMMAND...: the same random numbers every time, unless a seed is given or the run is a long one.
set -u
[ -n "${PARTITA_STRESS_SECONDS:-}" ] || export PARTITA_SEED="${PARTITA_SEED:-7}"
exec "$@"
