"""Write the bill of materials of an environment with Areopage: CycloneDX JSON, validated, the same for the same versions.

python tools/sbom.py ENVIRONMENT/bin/python OUTPUT.cdx.json
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).parents[1]
INSTALLERS = ("pip", "setuptools", "wheel")


def write_bill(python: Path, output: Path) -> dict[str, Any]:
    """Describe what an environment holds; its root is Areopage in the installed version.

    Raises:
        CalledProcessError: the environment cannot be read.
        ValueError: the bill is not valid CycloneDX 1.6, holds installers or paths of this computer, or lacks dependencies.
    """
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--sv", "1.6", "--of", "JSON"]
    command += ["--no-validate"]  # the bill is validated below, in the form that is written
    command += ["--pyproject", str(ROOT / "pyproject.toml"), "-o", str(output), str(python)]
    subprocess.run(command, check=True)
    bill: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
    version = subprocess.run(
        [python, "-c", "from importlib.metadata import version; print(version('areopage'))"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    bill["metadata"]["component"] |= {"version": version, "purl": f"pkg:pypi/areopage@{version}"}
    text = json.dumps(bill, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    if fault := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise ValueError(f"{output}: {fault}")
    names = {one["name"] for one in bill["components"]}
    if "file://" in text or names & set(INSTALLERS):
        raise ValueError(f"{output}: holds an installer or a path of this computer: make a clean environment")
    if "numpy" not in names:
        raise ValueError(f"{output}: Areopage's dependencies are not in {python}")
    output.write_text(text, encoding="utf-8")
    return bill


def main(python: str, output: str) -> None:
    """Write the bill and print how much it holds."""
    bill = write_bill(Path(python), Path(output))
    print(f"{output}: areopage {bill['metadata']['component']['version']}, {len(bill['components'])} components")


if __name__ == "__main__":
    main(*sys.argv[1:])
