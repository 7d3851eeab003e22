#!/bin/sh
# The figures of a machine, measured, are a description that plans are priced with.
. "$(dirname "$0")/common.sh"

cat >look.py <<'END_OF_LOOK'
import json, sys
path, ranks, extra = sys.argv[1], int(sys.argv[2]), set(sys.argv[3:])
machine = json.load(open(path))
assert machine["name"] == "mine" and machine["ranks_per_node"] == ranks, machine
latencies = {key for key in machine if key.endswith("_latency")}
for key in set(machine) - latencies - {"name", "description"}:
    assert machine[key] > 0, machine
assert latencies and all(0 <= machine[key] < 1 for key in latencies), machine
optional = {"signal_latency", "network_bandwidth", "network_latency", "bus_bandwidth"}
assert optional & set(machine) == extra, machine
END_OF_LOOK

small="--name mine --mib 1 --order 64 --runs 3"
"$partita" machine -n 1 $small >one.json
python3 look.py one.json 1
"$partita" machine -n 2 $small -o mine.json >out
[ ! -s out ] || fail "the file and the standard output"
python3 look.py mine.json 2 signal_latency
"$partita" plan slab:0 slab:1 --shape 8192x8192 -n 2 --machine ./mine.json | grep -q 'on "mine"' || fail "a price"
PARTITA_RANKS_PER_NODE=1 "$partita" machine -n 2 $small -o nodes.json
python3 look.py nodes.json 1 network_bandwidth network_latency

# On devices that are made of host memory.
fake=$(dirname "$partita")/../tests/fake
if ls "$fake"/libpartita.so* >/dev/null 2>&1; then
  LD_LIBRARY_PATH=$fake "$partita" machine -n 2 $small --device cuda >gpus.json
  python3 look.py gpus.json 2 signal_latency bus_bandwidth
fi

expect_failure 2 'runs' "$partita" machine --runs 0
expect_failure 2 'gpu' "$partita" machine --device gpu
