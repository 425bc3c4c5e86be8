"""Print the test files of what changed since `main`: changed tests, and those of a changed module's package that import it."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

SOURCE, TESTS = Path("src/areopage"), Path("tests")


def changed_files() -> set[Path]:
    """Files that differ from the last commit that this branch shares with `main`, and files that git does not know yet."""
    base = _git("merge-base", "HEAD", "main")[0]
    return {Path(name) for name in (*_git("diff", "--name-only", base), *_git("ls-files", "--others", "--exclude-standard"))}


def tests_of(changed: set[Path]) -> Iterator[Path]:
    """The test files among changed files, and those of a changed module."""
    yield from (file for file in changed if file.is_relative_to(TESTS) and file.name.startswith("test_") and file.exists())
    for file in changed:
        if file.suffix == ".py" and file.is_relative_to(SOURCE):
            parts = file.relative_to(SOURCE).with_suffix("").parts
            module = ".".join(("areopage", *parts)).removesuffix(".__init__")
            folder = TESTS / parts[0] if len(parts) > 1 else TESTS
            yield from (test for test in folder.rglob("test_*.py") if module in _imported(test))


def _imported(test: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(test.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def _git(*words: str) -> list[str]:
    return subprocess.run(("git", *words), check=True, capture_output=True, text=True).stdout.split()


if __name__ == "__main__":
    print(*sorted(set(tests_of(changed_files()))))
