"""The version is that of CMakeLists.txt wherever it must be written a second time, and what packages are described by is
well-formed."""

import ast
import pathlib
import re
import subprocess

root = pathlib.Path(__file__).resolve().parents[2]
version = re.search(r"^project\(partita VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text(), re.M)[1]
places = {
    "CITATION.cff": r"^version: (\S+)",
    "CHANGELOG.md": r"^## \[(?:Unreleased\]: )?([0-9.]+)",
    "packaging/conda/recipe.yaml": r'^  version: "(\S+)"',
    "packaging/spack/package.py": r'^    version\("([0-9.]+)"',
    "packaging/debian/changelog": r"^partita \(([0-9.]+)\)",
    "packaging/docker/Dockerfile": r'image\.version="(\S+)"',
    "packaging/apptainer/partita.def": r"^    Version (\S+)",
}
for name, pattern in places.items():
    found = re.search(pattern, (root / name).read_text(), re.M)
    assert found, f"{name}: no version"
    assert found[1] == version, f"{name}: version {found[1]}, but CMakeLists.txt has {version}"

# What changes with the first release: RELEASING.md, step 5.
is_released = bool(re.search(r"^## \[[0-9]", (root / "CHANGELOG.md").read_text(), re.M))
has_date = "date-released" in (root / "CITATION.cff").read_text()
assert has_date == is_released, f"CITATION.cff has {'a' if has_date else 'no'} date-released, which CHANGELOG.md contradicts"
if is_released:
    for name in ("README.md", "docs/python.md"):
        text = (root / name).read_text()
        assert "No release has been published" not in text and "--find-links FOLDER" not in text, f"{name}: there is a release"

ast.parse((root / "packaging/spack/package.py").read_text())
for script in ("build-debian", "install-in-container"):
    subprocess.run(["sh", "-n", root / "packaging" / script], check=True)
try:
    import yaml
except ImportError:
    print("packaging/conda/recipe.yaml is not read: there is no PyYAML")
else:
    assert yaml.safe_load((root / "packaging/conda/recipe.yaml").read_text())["package"]["name"] == "partita"
