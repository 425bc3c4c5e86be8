"""Size of the base install in a new virtual environment without an installer: files, bytecode, and the ten largest distributions.

Bytecode is counted twice: what one `areopage demo` writes, and what pip writes for every module at installation. One JSON line.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST = 10


def megabytes(size: int) -> float:
    return round(size / 1e6, 1)


def sizes(packages: Path) -> tuple[int, int]:
    """Bytes of files and of bytecode."""
    counted: Counter[bool] = Counter()
    for file in packages.rglob("*"):
        if file.is_file():
            counted[file.suffix == ".pyc"] += file.stat().st_size
    return counted[False], counted[True]


def largest(packages: Path) -> dict[str, list[float]]:
    """Megabytes of files and of all bytecode of the largest distributions."""
    found: dict[str, list[float]] = {}
    for distribution in distributions(path=[str(packages)]):
        listed = [packages / str(file) for file in distribution.files or () if file.suffix != ".pyc"]
        modules = [file for file in listed if file.suffix == ".py"]
        compiled = [one for file in modules for one in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc")]
        parts = [[file for file in listed if file.is_file()], compiled]
        found[f"{distribution.name} {distribution.version}"] = [
            megabytes(sum(one.stat().st_size for one in part)) for part in parts
        ]
    return dict(sorted(found.items(), key=lambda one: -sum(one[1]))[:MOST])


def main() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", scratch], check=True)
        python = str(Path(scratch) / "bin" / "python")
        install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile", str(ROOT)]
        subprocess.run(install, check=True, env=environment)
        packages = next((Path(scratch) / "lib").glob("python*/site-packages"))
        demo = [python, "-m", "areopage", "demo", "--folder", f"{scratch}/demo"]
        subprocess.run(demo, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        files, used = sizes(packages)
        subprocess.run([python, "-m", "compileall", "-q", str(packages)], check=False, env=environment, stdout=subprocess.DEVNULL)
        line = {
            "benchmark": "install_size",
            "distributions": len(list(packages.glob("*.dist-info"))),
            "files_mb": megabytes(files),
            "with_bytecode_of_demo_mb": megabytes(files + used),
            "with_all_bytecode_mb": megabytes(sum(sizes(packages))),
            "largest_files_and_bytecode_mb": largest(packages),
        }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
