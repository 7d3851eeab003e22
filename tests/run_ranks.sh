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
[ "$launched" = 0 ] && [ "$succeeded" = "$ranks" ] && exit 0
echo "run_ranks: $succeeded of $ranks ranks succeeded; exit codes: $(cat "$codes"/* 2>/dev/null | tr '\n' ' ')(launcher: $launched)" >&2
exit 1
