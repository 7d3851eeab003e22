#!/bin/sh
# The completion scripts are understood by their shells, and complete.
. "$(dirname "$0")/common.sh"

"$partita" completion fish >fish
grep -q "__fish_seen_subcommand_from plan' -l machine -x -a 'laptop" fish || fail "fish"
"$partita" completion zsh >zsh
grep -q '^#compdef partita' zsh || fail "zsh"
if command -v zsh >/dev/null; then zsh -n zsh || fail "zsh does not understand it"; fi
expect_failure 2 'tcsh' "$partita" completion tcsh

"$partita" completion bash >script
cat >try <<'END'
source ./script
complete_line() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  _partita 2>/dev/null
  echo "$* -> ${COMPREPLY[*]}"
}
complete_line partita la
complete_line partita plan --mach
complete_line partita plan --machine ''
complete_line partita layout block-n
complete_line partita trace m
complete_line partita trace l
complete_line partita solve --method ''
complete_line partita bench --device ''
END
command -v bash >/dev/null || exit 0
bash try >out
cat >wanted <<'END'
partita la -> layout
partita plan --mach -> --machine
partita plan --machine  -> laptop node-4-h200 node-8-gpu cluster
partita layout block-n -> block-noncyclic:
partita trace m -> matmul mesh:
partita trace l -> lu
partita solve --method  -> cholesky lu qr
partita bench --device  -> cpu cuda
END
diff wanted out || fail "bash"
