"""The changelog has the form of Keep a Changelog and a section for this version."""

import re

from packaging.version import Version

import areopage

from .conftest import ROOT

KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
RELEASE = re.compile(r"## \[(?P<version>\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}")


def test_the_changelog_has_sections_by_version_and_kind_and_one_for_this_version() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Changelog"
    sections = [line for line in lines if line.startswith("## ")]
    releases = [RELEASE.fullmatch(line) for line in sections if line != "## [Unreleased]"]
    assert all(releases), sections
    versions = [Version(found["version"]) for found in releases if found]
    assert versions == sorted(set(versions), reverse=True), "the newest release stands first, each once"
    assert sections[0] == "## [Unreleased]" or versions[0] == Version(areopage.__version__)
    assert {line[4:] for line in lines if line.startswith("### ")} <= KINDS
    assert lines.count("## [Unreleased]") <= 1
    first = lines.index(sections[0])
    assert any(line.startswith("- ") for line in lines[first:]), "the section says what changed"
