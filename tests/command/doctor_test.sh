#!/bin/sh
# The doctor finds nothing essential broken where the tests pass.
. "$(dirname "$0")/common.sh"

"$partita" doctor >out || fail "$(cat out)"
for subject in MPI launcher cores memory 'shared memory' BLAS FFT CUDA NCCL; do
  grep -q "^$subject " out || fail "nothing on $subject"
done
"$partita" doctor --json >out
python3 - <<'END'
import json
findings = json.load(open("out"))["findings"]
assert len(findings) == 9
assert all(f["health"] in ("ok", "warning", "missing") for f in findings), findings
assert all(f["summary"] for f in findings)
END
