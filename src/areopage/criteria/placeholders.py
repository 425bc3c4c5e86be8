"""Templates of .prompt files: `{name}` is a placeholder, `{{` and `}}` are literal braces.

Values are put in as they are and never read as templates, so braces and `%` in a case's text are harmless.
"""

import re
from collections.abc import Mapping

TOKEN = re.compile(r"\{\{|\}\}|\{([a-z_]+)\}|[{}]")

READER_PLACEHOLDERS = frozenset({"age_group", "maturity", "reading_level"})
CONTENT_PLACEHOLDERS = frozenset({"prompt", "response", "documents", "reference"})
PLACEHOLDERS = READER_PLACEHOLDERS | CONTENT_PLACEHOLDERS


def template_faults(template: str) -> list[str]:
    """Every unbalanced brace and unknown placeholder of a template, each with the line of the template it stands on."""
    faults: list[str] = []
    for token in TOKEN.finditer(template):
        line = template.count("\n", 0, token.start()) + 1
        if token.group() in ("{", "}"):
            faults.append(f"unbalanced {token.group()!r} (its line {line}): write {token.group() * 2!r} for a literal brace")
        elif token.group(1) and token.group(1) not in PLACEHOLDERS:
            faults.append(f"unknown placeholder {token.group()} (its line {line}): use one of {', '.join(sorted(PLACEHOLDERS))}")
    return faults


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values into a template; a placeholder without a value and a stray brace stay as they are."""

    def replace(token: re.Match[str]) -> str:
        name = token.group(1)
        if name is None:
            return token.group()[0]
        return values.get(name, token.group())

    return TOKEN.sub(replace, template)


def without_content(template: str) -> str:
    """A template without the lines that hold a content placeholder, nor the heading that led to them.

    V1.1 prompts end with a heading and one line each for the prompt and the response. The case is put after the constant
    part, fenced, so these lines must go.
    """
    kept = [
        line
        for line in template.splitlines()
        if not any(token.group(1) in CONTENT_PLACEHOLDERS for token in TOKEN.finditer(line))
    ]
    if len(kept) < len(template.splitlines()):
        while kept and (not kept[-1].strip() or kept[-1].rstrip().endswith(":")):
            kept.pop()
    return "\n".join(kept)
