"""Size of the base install: a new virtual environment, `pip install .`, the installer itself not counted. One JSON line."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
INSTALLERS = ("pip", "setuptools", "wheel", "_distutils_hack", "pkg_resources")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, "-m", "venv", scratch], check=True)
        python = Path(scratch) / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(ROOT)], check=True)
        packages = next((Path(scratch) / "lib").glob("python*/site-packages"))
        files = [
            file
            for file in packages.rglob("*")
            if file.is_file() and not file.relative_to(packages).parts[0].startswith(INSTALLERS)
        ]
        compiled = sum(file.stat().st_size for file in files if file.suffix == ".pyc")
        whole = sum(file.stat().st_size for file in files)
        line = {
            "benchmark": "install_size",
            "distributions": len(list(packages.glob("*.dist-info"))) - 2,
            "files_mb": round((whole - compiled) / 1e6, 1),
            "with_bytecode_mb": round(whole / 1e6, 1),
        }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
