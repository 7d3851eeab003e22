#!/bin/sh
# What would move, against figures worked out by hand.
. "$(dirname "$0")/common.sh"

# 12x10 doubles over 3 ranks, rows to columns: columns 4, 3, 3 of 4 rows each stay, the rest moves.
"$partita" plan slab:0 slab:1 --shape 12x10 -n 3 --json --verify >out
python3 - <<'END'
import json
plan = json.load(open("out"))
assert plan["ranks"] == 3 and plan["operation"] == "redistribute"
assert plan["total"]["local_bytes"] == 4 * 10 * 8, plan["total"]
assert plan["total"]["node_bytes"] == (12 * 10 - 4 * 10) * 8
assert plan["prediction"]["bytes"] == (12 * 10 - 4 * 10) * 8
assert plan["prediction"]["seconds"] > 0 and plan["prediction"]["ranks_priced"] == 3
assert plan["faults"] == []
END

# On nodes of one rank all of it becomes messages.
"$partita" plan slab:0 slab:1 --shape 12x10 -n 3 --ranks-per-node 1 --json >out
python3 - <<'END'
import json
plan = json.load(open("out"))
assert plan["nodes"] == 3 and plan["total"]["messages"] == 6, plan["total"]
assert plan["total"]["network_bytes"] == 80 * 8 and plan["total"]["node_bytes"] == 0
END

"$partita" plan slab:0 slab:0 --axes 1,0 --shape 7x5 --dtype f32 -n 2 --steps --verify --ordinary >out
grep -q '^verified' out || fail "verify"
grep -q '^predicted' out || fail "prediction"
grep -q ' copy ' out || fail "steps"

# Thousands of ranks, the figures of a machine that is not here.
"$partita" plan block-cyclic:64x64:64x64 block-cyclic:32x128:96x96 --shape 100000x100000 --machine cluster >out
grep -q 'of 4096 on 64 nodes' out || fail "4096 ranks"

# A multiply, compared with the lower bound: rows by rows, each of 4 ranks reads the other three quarters of B.
"$partita" plan --operation matmul slab:0 slab:0 --shape 1000x1200x800 -n 4 --json >out
python3 - <<'END'
import json
plan = json.load(open("out"))
assert plan["operation"] == "matmul" and plan["ranks"] == 4 and plan["nodes"] == 1
free, tight = plan["answers"]
assert free["memory"] is None and tight["memory"] == 1.5
assert free["method"] == "all-gather" and free["result"] == "slab:0", free
assert free["received"] == 800 * 1200 * 3 // 4 and free["scratch"] == 0
owned = (1000 * 800 + 800 * 1200 + 1000 * 1200) / 4
assert abs(free["bound"] - (3 * (1000 * 1200 * 800 / 4) ** (2 / 3) - owned)) < 1, free
assert 1 <= free["ratio"] and abs(free["ratio"] - free["received"] / free["bound"]) < 1e-9 and free["seconds"] > 0
END
"$partita" plan --operation matmul slab:1 slab:0 --shape 30x20x4000 -n 3 --op tn --result slab:1 --steps >out
grep -q 'the cost model' out || fail "reason"
grep -q 'multiply \[' out || fail "steps of a multiply"
# On many ranks one and a half times the operands may be too little for any method: an answer, not an error.
for ranks in 256 1001 1024 4096; do
  "$partita" plan --operation matmul slab:0 slab:0 --shape 8192x8192x8192 -n $ranks --machine cluster >out 2>err ||
    fail "$ranks ranks: $(cat err)"
  grep -q '^unlimited: D is' out && grep -q '^1.5 x operands: .*at least [0-9]* bytes are required' out || fail "$ranks ranks: $(cat out)"
done
# Seconds, for thousands of ranks; a terminal is shown how far it is.
timeout 60 "$partita" plan --operation matmul slab:0 slab:0 --shape 100000x100000x1000 -n 4096 --machine cluster >out ||
  fail "a product on 4096 ranks takes over a minute"
grep -q '^unlimited: D is' out || fail "a product on 4096 ranks: $(cat out)"
on_terminal 0 'ranks planned' timeout 60 "$partita" plan --operation fft slab:0 slab:1 --shape 4096x4096x4096 -n 1024 --machine cluster >out ||
  fail "a transform on 1024 ranks takes over a minute"
grep -q 'ranks planned' out && grep -q 'predicted' out || fail "a transform on 1024 ranks: $(cat out)"
"$partita" plan --operation matmul slab:0 slab:0 --shape 1023x1021x1019 -n 255 --machine cluster --json --steps >out
python3 - <<'END'
import json
free, tight = json.load(open("out"))["answers"]
assert free["memory"] is None and free["method"] and free["plan"]["steps"]
assert tight["memory"] == 1.5 and "bytes are required" in tight["refusal"] and "method" not in tight
END
expect_failure 2 'too small' "$partita" plan --operation matmul slab:0 slab:0 --shape 8192x8192x8192 -n 256 \
  --machine cluster --memory 1.5
# 1,024 ranks: within a tenth of the bound, with all memory and with half as much again as the operands take.
"$partita" plan --operation matmul block-cyclic:32x32:64x64 block-cyclic:32x32:64x64 --shape 32768x32768x32768 \
  --machine cluster --json >out
python3 - <<'END'
import json
plan = json.load(open("out"))
share = 32768**2 / 1024
free, tight = plan["answers"]
assert free["received"] <= 1.1 * 3 * (share * 32768) ** (2 / 3), free
assert tight["received"] <= 1.1 * (2 * share * 32768 / share**0.5 + share), tight
assert free["ratio"] >= 1 and tight["ratio"] >= 1, plan
assert plan["answers"][1]["scratch"] <= 0.5 * 3 * 32768**2 / 1024
END

# Matrices of any shape: no plan receives less than the bound.
for shape in 30x20x400000 400000x20x30 20x400000x30 2000x2000x20 20x20x20; do
  for to in slab:0 slab:1 replicated; do
    "$partita" plan --operation matmul slab:1 $to --shape $shape -n 3 --json >out || fail "$shape"
    python3 - <<'END'
import json
for answer in json.load(open("out"))["answers"]:
    assert answer.get("received", 0) >= answer.get("bound", 0) * 0.999999, answer
END
  done
done

expect_failure 2 'm x n x k' "$partita" plan --operation matmul slab:0 slab:1 --shape 9x9
expect_failure 2 'too small' "$partita" plan --operation matmul slab:1 slab:0 --result slab:1 --shape 90x90x9 -n 3 --memory 1 --ranks-per-node 1
expect_failure 2 'direct' "$partita" plan --operation matmul slab:0 slab:1 --shape 9x9x9 --method direct
expect_failure 2 'unknown machine' "$partita" plan slab:0 slab:1 --shape 9x9 --machine nowhere
expect_failure 2 'quick' "$partita" plan slab:0 slab:1 --shape 9x9 --method quick
expect_failure 2 'no rank 3' "$partita" plan slab:0 slab:1 --shape 9x9 -n 3 --rank 3
expect_failure 2 'axis 5' "$partita" plan slab:0 slab:1 --shape 9x9 --axes 1,5
expect_failure 2 'too many' "$partita" plan slab:0 slab:1 --shape 9000x9000 --verify
expect_failure 2 'f65' "$partita" plan slab:0 slab:1 --shape 9x9 --dtype f65

# A transform of rows: what is not on the diagonal of 4 x 4 blocks moves once, 16 bytes an element.
"$partita" plan --operation fft slab:0 --shape 64x64 -n 4 --json >out
python3 - <<'END'
import json
plan = json.load(open("out"))
assert plan["operation"] == "fft" and plan["ranks"] == 4, plan
assert plan["total"]["node_bytes"] == 64 * 64 * 16 * 3 // 4, plan["total"]
END
"$partita" plan --operation fft slab:0 slab:0 --shape 64x64x64 --dtype f32 -n 4 --machine cluster >out
grep -q 'f32' out && grep -q 'c64' out || fail "real numbers become complex ones"
expect_failure 2 'verify' "$partita" plan --operation fft slab:0 --shape 8x8 -n 2 --verify

# A factorization, next to a distribution in two dimensions; here all ranks read every panel, by messages.
"$partita" plan --operation qr slab:0 --shape 4096x4096 --block 64 -n 64 --ranks-per-node 1 --json >out
python3 - <<'END'
import json
plan = json.load(open("out"))
assert plan["operation"] == "qr" and plan["ranks"] == 64
assert plan["reason"].startswith("64 panels of 64 columns"), plan["reason"]
received = plan["received"]
n, ranks = 4096, 64
half = n * (n + 1) / 2
assert abs(received["bound"] - 8 * (2 * half / ranks**0.5 - 2 * half / ranks)) < 1, received
panels = 8 * (half + n * 63 / 2) * 63 / 64  # and the triangles above the diagonal; a rank's own are not received
assert panels <= received["bytes"] <= 1.01 * (panels + 8 * n * n / ranks), received
assert abs(received["ratio"] - received["bytes"] / received["bound"]) < 1e-9
END
"$partita" plan --operation cholesky slab:1 --shape 300x300 -n 3 --steps >out
grep -q '^received .* best grid of ranks' out && grep -q 'cholesky' out || fail "cholesky: $(cat out)"
"$partita" plan --operation lu block-cyclic:2x2:8x8 --shape 70x30 --dtype c64 -n 4 --device cuda >out || fail "lu"
grep -q 'cyclically over 4 ranks' out || fail "LU on devices: $(cat out)"
"$partita" plan --operation solve slab:0 --shape 64x64x5 -n 4 --op tn --method cholesky >out || fail "solve"
grep -q '^solve: rank 0 of 4' out && ! grep -q '^received' out || fail "solve: $(cat out)"
# On many nodes Cholesky and LU are computed on a grid, and receive little more than that requires.
for operation in cholesky lu; do
  "$partita" plan --operation $operation block-cyclic:64x64:512x512 --shape 1000000x1000000 --machine cluster --json >out
  python3 - <<'END'
import json
plan = json.load(open("out"))
assert plan["reason"] == "1954 panels of 512 columns, on a grid of 64x64 ranks", plan["reason"]
# Of a sample of ranks, some of which receive less.
assert 0 < plan["received"]["ratio"] <= (1.1 if plan["operation"] == "cholesky" else 1.2), plan["received"]
END
done
for words in '--grid 2x2' '--grid 2x2 --pivoting tournament'; do
  "$partita" plan --operation lu slab:0 --shape 600x600 -n 4 --block 64 $words >out || fail "lu $words"
  grep -q 'on a grid of 2x2 ranks' out || fail "lu $words: $(cat out)"
done
expect_failure 1 'partial pivoting' "$partita" plan --operation lu slab:0 --shape 90x90 -n 4 --grid 2x2 --pivoting partial
expect_failure 2 'not one of 4 ranks' "$partita" plan --operation lu slab:0 --shape 90x90 -n 4 --grid 3x2
expect_failure 2 'a memory limit of 1 bytes' "$partita" plan --operation lu slab:0 --shape 90x90 -n 4 --ranks-per-node 1 --memory-limit 1
expect_failure 2 'm x n of a matrix' "$partita" plan --operation lu slab:0 --shape 9x9x9
expect_failure 2 'has one distribution' "$partita" plan --operation lu slab:0 slab:1 --shape 9x9
expect_failure 2 'one algorithm' "$partita" plan --operation qr slab:0 --shape 9x9 --method lu
expect_failure 2 'must be square' "$partita" plan --operation cholesky slab:0 --shape 9x8
expect_failure 2 'must be n' "$partita" plan --operation solve slab:0 --shape 9x9 --op nt
expect_failure 2 'verify' "$partita" plan --operation lu slab:0 --shape 9x9 --verify

# The same on GPUs, with their plans and the figures of a machine that has some; no GPU is required for it.
unset PARTITA_MACHINE
for operation in redistribute fft matmul; do
  shape=64x64 to=slab:1
  [ $operation = matmul ] && shape=64x64x64
  "$partita" plan --operation $operation slab:0 $to --shape $shape --dtype c64 -n 4 --device cuda --steps >out ||
    fail "$operation on GPUs"
  grep -q '"node-8-gpu"' out || fail "the machine of GPUs: $(cat out)"
  grep -q ', device$' out || fail "operands of $operation in device memory: $(cat out)"
  "$partita" plan --operation $operation slab:0 $to --shape $shape --dtype c64 -n 4 --device cuda --machine laptop >out
  grep -q '"laptop"' out || fail "the machine that is named"
done
expect_failure 2 'gpu' "$partita" plan slab:0 slab:1 --shape 9x9 --device gpu
