"""What `partita bench python`, `jax` and `torch` call."""

import json
import os
import subprocess
import sys

import pytest


def bench(*words, before=""):
    text = f"{before}\nimport sys; sys.argv[1:] = {list(words)!r}\nfrom partita.bench import main; main()"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI", "PARTITA_"))}
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr.strip().splitlines()


@pytest.mark.parametrize("package", ["jax", "torch"])
def test_a_package_that_is_not_there_is_named(package):
    code, _, said = bench(package, before=f"import sys; sys.modules[{package!r}] = None")
    assert code == 1 and said == [f"partita bench {package}: the package {package} is not installed for {sys.executable}"]


def test_what_has_no_cases_on_gpus():
    code, _, said = bench("--device", "cuda")
    assert code == 1 and len(said) == 1 and said[0].startswith("partita bench python: the cases of the package itself")


def test_what_is_told(tmp_path):
    """Of small calls the least, too, which is no more than the median."""
    code, printed, said = bench("--case", "*/small", "--runs", "2", "--pin", "--json", str(tmp_path / "b.jsonl"))
    assert code == 0, said
    found = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert [one["case"] for one in found] == [f"{name}/small" for name in ("matmul", "fftn", "redistribute", "all_reduce", "ufunc")]
    for one in found:
        assert 0 < one["least"]["ours"] <= one["ours_s"] and 0 < one["least"][one["bound"]] <= one["bound_s"], one
    assert printed.count("least") == len(found)


def test_names():
    code, printed, _ = bench("--list")
    assert code == 0 and "matmul/small" in printed.split()
