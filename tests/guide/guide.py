"""Makes one C++ program of the pieces of code in Markdown documents: a function a piece.

A piece is what is in a fence of ```cpp. A comment <!-- given: DECLARATIONS --> before it declares what its text describes, and
<!-- check: EXPRESSION --> after it must hold at its end.
"""

import re
import sys

program, *documents = sys.argv[1:]
pieces = []  # heading, code, check
for document in documents:
    text = open(document, encoding="utf-8").read()
    for found in re.finditer(r"^(?:<!-- given: ((?:(?!-->).)*) -->\n)?```cpp\n(.*?)^```\n(?:<!-- check: (.*?) -->)?", text, re.S | re.M):
        heading = re.findall(r"^##? (.*)$", text[: found.start()], re.M)[-1]
        pieces.append((heading, (found[1] + "\n" if found[1] else "") + found[2], found[3]))

lines = [
    "#include <cmath>",
    "#include <iostream>",
    "#include <numeric>",
    "#include <optional>",
    "#include <partita/partita.hpp>",
    "#include <sstream>",
    "#include <stdexcept>",
    "",
    '#include "guide/piece.hpp"',
    "",
    "namespace pt = partita;",
    "",
    "namespace {",
]
for number, (_, code, check) in enumerate(pieces):
    # Pieces that make a context show how; in the tests it is the one that they run on.
    body = re.sub(r"pt::initialize\(.*?\);", "given;", code)
    body = body.replace("Context context = given", "Context& context = given")
    given = "given" if "given" in body else "context"
    lines += ["", f"void piece_{number}([[maybe_unused]] const pt::Context& {given}) {{"]
    lines += ["  " + line if line else "" for line in body.splitlines()]
    if check:
        lines += [f"  guide::require({check}, {check!r});".replace("'", '"') if '"' not in check else
                  f"  guide::require({check}, R\"check({check})check\");"]
    lines += ["}"]
lines += ["", "}  // namespace", "", "const std::vector<guide::Piece> guide::pieces{"]
lines += [f'    {{"{heading}, {number}", &piece_{number}}},' for number, (heading, _, _) in enumerate(pieces)]
lines += ["};", ""]
open(program, "w", encoding="utf-8").write("\n".join(lines))
