#!/bin/sh
# run_ranks.sh RANKS LAUNCHER [FLAGS...] -- PROGRAM [ARGUMENTS...]: starts the ranks and fails unless every one
# of them ended with 0. Launchers that let survivors outlive a dead rank report success when a rank fails
# (Open MPI's --enable-recovery does), so each rank leaves its own exit code.
set -u
ranks=$1
shift
. "$(dirname "$0")/launch_arguments.sh"

# One file a process; its name only has to be unique. MPICH's launcher sends SIGUSR1 when a process has died.
PARTITA_CODES=$codes $launch $count "$ranks" sh -c 'trap : USR1; "$@"; echo $? >"$PARTITA_CODES/$$"' rank "$@" </dev/null
launched=$?

succeeded=$(cat "$codes"/* 2>/dev/null | grep -c '^0$')
if [ "$succeeded" = "$ranks" ]; then
  [ "$launched" = 0 ] && exit 0
  # MPICH's launcher, on a loaded machine, may lose the code of a rank (github.com/pmodels/mpich/issues/7057): it
  # ends with 1 then and says "Hangup (signal 1)". What the ranks have left is what counts.
  [ "$launched" = 1 ] && $launch --version 2>&1 | grep -q HYDRA && exit 0
fi
echo "run_ranks: $succeeded of $ranks ranks succeeded; exit codes: $(cat "$codes"/* 2>/dev/null | tr '\n' ' ')(launcher: $launched)" >&2
exit 1
