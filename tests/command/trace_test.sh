#!/bin/sh
# Timelines: every step of every rank once, planned and measured, in the order of the plan.
. "$(dirname "$0")/common.sh"

cat >look.py <<'END'
import json, sys
path, ranks, executions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
events = json.load(open(path))["traceEvents"]
names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
assert sorted(names.values()) == ["measured", "planned"], names
rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
assert sorted(rows.values()) == sorted(2 * [f"rank {rank}" for rank in range(ranks)]), rows
steps = {}
for e in events:
    if e["ph"] != "X":
        assert e["ph"] == "M"
        continue
    assert e["dur"] >= 0 and e["ts"] >= 0, e
    assert rows[e["pid"], e["tid"]] == f"rank {e['args']['rank']}"
    steps.setdefault((names[e["pid"]], e["args"]["rank"]), []).append(e)
for rank in range(ranks):
    planned, measured = steps["planned", rank], steps["measured", rank]
    numbers = [e["args"]["step"] for e in planned]
    assert numbers == list(range(len(numbers))) and len(numbers) > 0
    assert [e["args"]["step"] for e in measured] == executions * numbers
    assert [e["args"]["execution"] for e in measured] == [i for i in range(executions) for _ in numbers]
    assert [e["args"]["what"] for e in measured] == executions * [e["args"]["what"] for e in planned]
    assert [e["name"] for e in measured] == executions * [e["name"] for e in planned]
    for row in planned, measured:
        for before, after in zip(row, row[1:]):
            # Microseconds to the nanosecond.
            assert before["ts"] + before["dur"] <= after["ts"] + 0.002, (before, after)
for name in "planned", "measured":
    first = min(e["ts"] for (timeline, _), row in steps.items() if timeline == name for e in row)
    assert first == 0, (name, first)
print("fine")
END

"$partita" trace redistribute slab:0 slab:1 --shape 210x130 -n 3 -o trace.json >out
grep -q 'planned ' out && grep -q 'measured ' out || fail "$(cat out)"
python3 look.py trace.json 3 1 | grep -q fine || fail "redistribute"
"$partita" trace redistribute block-cyclic:2x1:7x9 slab:1 --shape 61x47 --dtype c64 --ordinary --executions 3 >out
python3 look.py trace.json 2 3 | grep -q fine || fail "three executions"
PARTITA_RANKS_PER_NODE=1 "$partita" trace redistribute slab:0 slab:1 --shape 33x29 -n 2 >out
python3 look.py trace.json 2 1 | grep -q fine || fail "messages"
grep -q '"receive"' trace.json || fail "no messages"
"$partita" trace matmul slab:0 slab:0 --shape 90x70x50 -n 2 --op nt -o product.json >out
python3 look.py product.json 2 1 | grep -q fine || fail "matmul"
"$partita" trace fft slab:0 --shape 24x18x10 -n 2 -o transform.json >out
python3 look.py transform.json 2 1 | grep -q fine || fail "fft"
for operation in cholesky lu qr solve; do
  "$partita" trace $operation slab:0 --shape 50x50 --block 8 -n 2 -o linear.json >out || fail "$operation"
  python3 look.py linear.json 2 1 | grep -q fine || fail "$operation"
done
"$partita" trace redistribute slab:0 slab:0 --shape 9x7 --axes 1,0 -n 1 -o alone.json >out
python3 look.py alone.json 1 1 | grep -q fine || fail "one rank"

expect_failure 2 'two distributions' "$partita" trace redistribute slab:0 --shape 9x9
expect_failure 2 'up to 64 ranks' "$partita" trace redistribute slab:0 slab:1 --shape 9x9 -n 65
expect_failure 2 'quick' "$partita" trace redistribute slab:0 slab:1 --shape 9x9 -n 2 --method quick
expect_failure 2 'm x n x k' "$partita" trace matmul slab:0 slab:1 --shape 9x9 -n 2
expect_failure 2 'is not an order' "$partita" trace redistribute slab:0 slab:1 --shape 9x9 --axes 1,5 -n 1
expect_failure 1 'nowhere' "$partita" trace redistribute slab:0 slab:1 --shape 9x9 -n 1 -o nowhere/trace.json
if ! nvidia-smi >/dev/null 2>&1; then
  expect_failure 1 'no GPU' "$partita" trace redistribute slab:0 slab:1 --shape 9x9 -n 2 --device cuda
  expect_failure 1 'no GPU' "$partita" bench redistribute --device cuda
fi
