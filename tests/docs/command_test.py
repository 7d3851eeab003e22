#!/usr/bin/env python3
"""command_test.py COMMAND: what docs/command.md shows of `layout`, and of plans of redistributions, is what they print; but for seconds."""
import pathlib
import re
import subprocess
import sys

document = pathlib.Path(__file__).parents[2] / "docs/command.md"


def shown(text):
    """Command lines and the lines after them: those of a block that is indented by four."""
    for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M):
        lines = [line[4:] for line in block.rstrip("\n").split("\n")]
        starts = [number for number, line in enumerate(lines) if line.startswith("$ ")] + [len(lines)]
        for start, end in zip(starts, starts[1:]):
            yield lines[start][2:], lines[start + 1 : end]


def comparable(lines):
    return [re.sub(r"[\d.]+ (?=[mu]?s\b)", "", line).rstrip() for line in lines if line.strip()]


checked = 0
for line, expected in shown(document.read_text()):
    words = line.split()
    if words[:2] not in (["partita", "layout"], ["partita", "plan"]) or "--operation" in words:
        continue
    done = subprocess.run([sys.argv[1], *words[1:]], capture_output=True, text=True, check=False, timeout=60)
    printed = comparable((done.stdout + done.stderr).split("\n"))
    if printed != comparable(expected):
        sys.exit(f"docs/command.md does not show what \"{line}\" prints:\n" + "\n".join(printed))
    checked += 1
if checked < 5:
    sys.exit(f"docs/command.md shows only {checked} layouts and plans")
