#!/bin/sh
# two_hosts.sh PROGRAM LAUNCHER [FLAGS...] -- : two hosts on one machine, with two ranks on each: namespaces of
# network, host name, processes and mounts, connected by a virtual cable. Open MPI starts the other host's daemon
# through an agent that enters it, and its messages go by TCP. Random redistributions and collectives, a rank
# that calls something else, ranks that go, and at last the cable is cut. See two_hosts.cpp.
#
# SEED chooses the random ones. Exit code 77: namespaces are refused here (a container without the right).
set -u
program=$1
shift
. "$(dirname "$0")/../launch_arguments.sh"

seed=${SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
near=partita-a-$$
far=partita-b-$$
failures=0
work=$(mktemp -d)

# Whoever still runs on a host ends with the first process of it, and a cable with one of its ends.
clean_up() {
  [ -z "${started:-}" ] || kill -9 "$started" 2>/dev/null
  for host in $near $far; do
    ip netns pids "$host" 2>/dev/null | xargs -r kill -9 2>/dev/null
    ip netns del "$host" 2>/dev/null
  done
  rm -rf "$work" "$codes"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

refuse() {
  echo "two hosts: skipped: $1"
  exit 77
}

on="unshare --uts --pid --fork --kill-child --mount-proc"
ip netns add "$near" 2>"$work/why" && ip netns add "$far" 2>>"$work/why" &&
  ip link add cable netns "$near" type veth peer name cable netns "$far" 2>>"$work/why" &&
  ip netns exec "$near" $on true 2>>"$work/why" || refuse "no namespaces: $(tr '\n' ' ' <"$work/why")"
ip -n "$near" addr add 10.77.0.1/24 dev cable
ip -n "$far" addr add 10.77.0.2/24 dev cable
for host in $near $far; do
  ip -n "$host" link set lo up
  ip -n "$host" link set cable up
done

# Open MPI calls it as `agent HOST COMMAND...`.
cat >"$work/agent" <<END
#!/bin/sh
shift
exec ip netns exec $far $on sh -c 'hostname partita-b; exec sh -c "\$*"' host "\$@"
END
chmod +x "$work/agent"

# start CASE: two ranks on each host, in the background; each leaves a report in $work/CASE.RANK.
start() {
  rm -f "$work"/report.*
  ip netns exec "$near" $on sh -c 'hostname partita-a; exec "$@"' host \
    $launch --host partita-a:2,partita-b:2 -n 4 --leave-session-attached \
    --mca plm_rsh_agent "$work/agent" --mca plm_rsh_no_tree_spawn 1 --mca pml ob1 --mca btl tcp,vader,self \
    --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
    "$program" "$1" "$work/report" "$seed" </dev/null >"$work/output" 2>&1 &
  started=$!
}

reports() { ls "$work"/report.[0-9] 2>/dev/null | wc -l; }

# wait_for REPORTS SECONDS
wait_for() {
  turns=$(($2 * 10))
  while [ "$(reports)" -lt "$1" ] && [ "$turns" -gt 0 ]; do
    sleep 0.1
    turns=$((turns - 1))
  done
}

# The launcher is not asked: without the cable it hangs, and it ends the others of a killed rank or does not.
stop() {
  kill -9 "$started" 2>/dev/null
  wait "$started" 2>/dev/null
}

# judge CASE REPORTS: so many, all good.
judge() {
  good=$(cat "$work"/report.[0-9] 2>/dev/null | grep -c '^good')
  if [ "$good" = "$2" ] && [ "$(reports)" = "$2" ]; then
    echo "two hosts: $1: in good order"
  else
    failures=$((failures + 1))
    echo "two hosts: $1: FAILED: $good good reports of $(reports), $2 expected (seed $seed)"
    cat "$work/output"
  fi
  cat "$work"/report.[0-9] 2>/dev/null
}

run_case() {
  start "$1"
  wait_for "$2" 120
  stop
  judge "$1" "$2"
}

echo "two hosts: seed $seed"
run_case work 4
run_case mismatch 4
run_case returns 3
run_case throws 3
run_case exits 3
run_case killed 3

start cut
wait_for 4 60 # all are at work
[ "$(reports)" = 4 ] && ip -n "$near" link set cable down && rm -f "$work"/report.*
wait_for 4 120
stop
judge cut 4
exit "$failures"
