#!/bin/sh
# What is written where something is already: devices, pipes, links and permissions stay, whichever command writes.
. "$(dirname "$0")/common.sh"

make_npy a.npy '<f8' 6,5 False 1
"$partita" convert -n 2 a.npy wanted.npy -d slab:1 >out
cat >make_devices.py <<'END'
import os, stat, sys
for name, minor in (("null.npy", 3), ("null.h5", 3), ("null.svg", 3), ("full.npy", 7), ("full.png", 7)):
    os.mknod(name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
    open(name, "wb").close()
END

# Devices are written through, or refused by name; they are devices afterwards.
if python3 make_devices.py 2>err; then
  "$partita" convert -n 2 a.npy null.npy >out 2>err || fail "convert to a device: $(cat err)"
  "$partita" fft a.npy -o null.npy -n 3 >out 2>err || fail "fft to a device: $(cat err)"
  "$partita" matmul a.npy a.npy --op nt -o null.npy -n 2 >out 2>err || fail "matmul to a device: $(cat err)"
  "$partita" layout slab:0 --shape 4x4 --svg null.svg >out 2>err || fail "a picture to a device: $(cat err)"
  "$partita" trace redistribute slab:0 slab:1 --shape 9x9 -n 2 -o null.svg >out 2>err ||
    fail "a timeline to a device: $(cat err)"
  expect_failure 1 'No space left' "$partita" fft a.npy -o full.npy -n 2
  expect_failure 1 'No space left' "$partita" layout slab:0 --shape 4x4 --png full.png
  expect_failure 1 'null.h5: .*regular file' "$partita" convert -n 2 a.npy null.h5
  for device in null.npy null.h5 null.svg full.npy full.png; do
    [ -c $device ] || fail "$device is no device any more"
  done
else
  echo "skipped: no devices can be made here: $(tail -1 err)"
fi

# So is what is printed, and who has closed the standard output gets all the same done.
for words in "layout slab:0 --shape 4x4" "plan slab:0 slab:1 --shape 9x9 -n 2 --json" "completion bash" --version; do
  code=0
  "$partita" $words >/dev/full 2>err || code=$?
  [ $code = 1 ] && grep -q '^partita: .*cannot write' err || fail "$words: exit code $code: $(cat err)"
done
"$partita" convert -n 1 a.npy closed.npy -d slab:1 >&- || fail "without a standard output"
cmp closed.npy wanted.npy || fail "what was written without a standard output"

# A limit on the size of files is an error like any other.
make_npy large.npy '<f8' 600,50 False 2
for name in large.copy.npy large.h5; do
  (ulimit -f 100 && expect_failure 1 "$name.*: .*File too large" "$partita" convert -n 1 large.npy $name) ||
    fail "a limit on the size of $name"
done

# Pipes have a reader or are refused; ranks cannot write into them together.
mkfifo pipe.npy pipe.svg
expect_failure 1 'pipe.npy: .*without a reader' "$partita" convert -n 2 a.npy pipe.npy
cat pipe.svg >piped.svg &
reader=$!
until "$partita" layout slab:0 --shape 4x4 --svg pipe.svg >out 2>err; do # until the reader is there
  grep -q 'without a reader' err || fail "$(cat err)"
done
wait $reader
"$partita" layout slab:0 --shape 4x4 --svg plain.svg >out
cmp piped.svg plain.svg || fail "the picture through a pipe"
[ -p pipe.npy ] && [ -p pipe.svg ] || fail "a pipe has been replaced"

# Links stay, also those that lead nowhere yet; permissions stay.
mkdir there folder.npy
cp a.npy there/secret.npy && chmod 600 there/secret.npy
ln -s there/secret.npy link.npy
ln -s there/new.npy dangling.npy
for name in link.npy dangling.npy; do
  "$partita" convert -n 2 a.npy $name -d slab:1 >out 2>err || fail "$name: $(cat err)"
  [ -L $name ] || fail "$name is no link any more"
  cmp $name wanted.npy || fail "what $name leads to"
done
[ "$(stat -c %a there/secret.npy)" = 600 ] || fail "permissions: $(stat -c %a there/secret.npy)"
chmod 640 plain.svg
"$partita" layout slab:1 --shape 4x4 --svg plain.svg >out
[ "$(stat -c %a plain.svg)" = 640 ] || fail "permissions of a picture: $(stat -c %a plain.svg)"
expect_failure 1 'folder.npy: .*directory' "$partita" convert -n 2 a.npy folder.npy
[ -z "$(find . -name '.*partial*')" ] || fail "temporary files are left"
