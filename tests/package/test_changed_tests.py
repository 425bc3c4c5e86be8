"""`make check` runs the tests of what changed."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_a_changed_module_selects_the_tests_of_its_package_that_import_it() -> None:
    tests_of = runpy.run_path(str(ROOT / "tools" / "changed_tests.py"))["tests_of"]
    chosen = {file.as_posix() for file in tests_of({Path("src/areopage/digest.py"), Path("tests/text/test_sizes.py")})}
    assert "tests/test_digest.py" in chosen
    assert all(file.startswith("tests/") and file.endswith(".py") for file in chosen)
    assert "tests/cli/test_command_line.py" not in chosen
