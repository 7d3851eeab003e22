#!/bin/sh
# Pictures and tables of small layouts, literally.
. "$(dirname "$0")/common.sh"

"$partita" layout block-cyclic:2x2:2x3 --shape 5x7 >out
cat >wanted <<'END'
5x7 block-cyclic:2x2:2x3 over 4 ranks

  0 0 0 1 1 1 0
  0 0 0 1 1 1 0
  2 2 2 3 3 3 2
  2 2 2 3 3 3 2
  0 0 0 1 1 1 0

  rank  shape      elements  owns
     0  3x4              12  [0,2), [4,5) x [0,3), [6,7)
     1  3x3               9  [0,2), [4,5) x [3,6)
     2  2x4               8  [2,4) x [0,3), [6,7)
     3  2x3               6  [2,4) x [3,6)
END
diff wanted out || fail "block-cyclic"

"$partita" layout slab:0 --shape 3 -n 5 >out
cat >wanted <<'END'
3 slab:0 over 5 ranks

  0 1 2

  rank  shape      elements  owns
     0  1                 1  [0,1)
     1  1                 1  [1,2)
     2  1                 1  [2,3)
     3  0                 0  nothing
     4  0                 0  nothing
END
diff wanted out || fail "fewer elements than ranks"

"$partita" layout 'mesh:x=2,y=2:x,-;partial=sum:y' --shape 2x2 >out
grep -q '^  0,1 0,1$' out || fail "both holders of a partial element"
grep -q '^partial: .* sum' out || fail "the partial state is said"

"$partita" layout slab:1 --shape 4x6x5 -n 3 --slice 1,:,: >out
[ "$(sed -n 3,8p out | tr -d ' ' | tr '\n' ' ')" = "00000 00000 11111 11111 22222 22222 " ] || fail "slice"
grep -q 'at 1 of axis 0' out || fail "the slice is said"

# A pattern finer than a cell is shown sharp, not blurred.
"$partita" layout block-cyclic:2x2:100x100 --shape 8192x8192 >out
grep -q '^  0 1 0 1 0 1' out || fail "a fine pattern"

"$partita" layout block-noncyclic:2x2 --shape 9x5 --svg picture.svg --png picture.png >out
python3 - <<'END'
import xml.dom.minidom
picture = xml.dom.minidom.parse("picture.svg")
texts = [t.firstChild.data for t in picture.getElementsByTagName("text")]
assert "rank 3: 4x2" in texts, texts
assert len(picture.getElementsByTagName("rect")) == 1 + 4 + 4, "background, four patches, four swatches"
END
[ "$(head -c 4 picture.png | tail -c 3)" = PNG ] || fail "no PNG"

expect_failure 2 'slop' "$partita" layout slop --shape 4x4
expect_failure 2 'axis 2' "$partita" layout slab:2 --shape 4x4
expect_failure 2 'no shape' "$partita" layout slab:0 --shape 4y4
expect_failure 2 'not an index along axis 0' "$partita" layout slab:0 --shape 4x4x4 --slice 4,:,:
expect_failure 2 'entries' "$partita" layout slab:0 --shape 4x4x4 --slice :,:,:
expect_failure 2 '' "$partita" layout block-cyclic:2x2:2x2 --shape 8x8 -n 3
expect_failure 1 'could not be written' "$partita" layout slab:0 --shape 4x4 --svg missing/picture.svg
expect_failure 1 'could not be written' "$partita" layout slab:0 --shape 4x4 --png missing/picture.png
