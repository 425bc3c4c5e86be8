"""Make new suites and new criteria."""

import re
import shutil
import tempfile
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from string import Template

from areopage.criteria import CRITERION_ID, Scale
from areopage.errors import ConfigError, CriteriaError, StorageError, UserError, writing
from areopage.locales import LANGUAGES
from areopage.suites.config import SuiteConfig
from areopage.suites.loader import BUNDLED, CONFIG_FILE, Suite, bundled_names, find_suite
from areopage.yaml_document import parse_yaml

_CONFIG = Path(__file__).with_name("new_suite") / "config.yml"
_FIRST_VERSION = "__v1_0"
TEMPLATES = Path(__file__).with_name("new_criterion")
_AGE_CONTEXT = re.compile(r"age_context:.*\n(?: .*\n)*")
_RELEASE = re.compile(r"^release:[ \t]*\n", re.MULTILINE)
MOST_LINES = 10
"""The widest scale whose every score has a line of the guide."""


def copy_suite(like: str, folder: Path) -> None:
    """Copy a suite into a new folder; nothing is left behind where it fails."""
    source = find_suite(like)
    if folder.resolve().is_relative_to(source.resolve()):
        raise ConfigError(f"is inside the suite {like}: choose a folder outside of it", path=folder)
    with new_folder(folder) as made:
        try:
            shutil.copytree(source, made, symlinks=like not in bundled_names())  # links stay links: see `Suite`
        except shutil.Error as error:
            source, _, reason = error.args[0][0]
            raise StorageError(f"{source} cannot be copied: {reason}") from None


def set_release(folder: Path, key: str, value: str) -> None:
    """Write a word of the release section into the configuration of a suite."""
    path = folder / CONFIG_FILE
    text = path.read_text(encoding="utf-8")
    match = re.compile(rf"^([ \t]+{key}:[ \t]*)(\w+)", re.MULTILINE).search(text)
    written = (
        f"{text[: match.start(2)]}{value}{text[match.end(2) :]}" if match else _RELEASE.sub(rf"\g<0>  {key}: {value}\n", text)
    )
    if written == text and not match:
        raise ConfigError(f"sets no floors of a release: write `release: {{{key}: {value}}}` with floors", path=path)
    with writing(path):
        path.write_text(written, encoding="utf-8")


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """The place of a folder in the making; it gets its name at the end, and nothing is left behind where it fails."""
    if folder.exists():
        raise ConfigError("already exists: choose a new folder", path=folder)
    with writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".areopage-") as scratch:
            made = Path(scratch) / folder.name
            yield made
            made.replace(folder)


def blank_suite(folder: Path, criteria: Sequence[str], languages: Sequence[str]) -> list[Path]:
    """Write a suite with these criteria into a new folder; return the files that hold texts to be written.

    Each criterion weighs as much as its siblings and is critical: none of them may fail before a release.

    Args:
        criteria: ids; one without a version gets the first.
        languages: the first is the suite's own.
    """
    ids = [criterion if "__v" in criterion else criterion + _FIRST_VERSION for criterion in criteria]
    if not ids:
        raise UserError("a suite has one criterion at least: give --criteria category.subcategory.name,...")
    for id in ids:
        if CRITERION_ID.fullmatch(id) is None:
            raise CriteriaError(f"{id!r} is not an id: write category.subcategory.name in a-z, 0-9 and _")
        if ids.count(id) > 1:
            raise CriteriaError(f"{id} is given twice")
    unknown = [language for language in languages if language not in LANGUAGES]
    if unknown or not languages:
        raise UserError(f"the languages of a suite are {' and '.join(LANGUAGES)}, not {', '.join(unknown) or 'none'}")
    config = Template(_CONFIG.read_text(encoding="utf-8")).substitute(
        name=folder.name,
        languages=", ".join(languages),
        weights=textwrap.indent(_equal_weights(ids), "  ").rstrip("\n"),
    )
    paths = SuiteConfig().criteria
    with new_folder(folder) as made:
        scale = Scale()
        entries = "".join(textwrap.indent(new_entry(id, languages), "  ") for id in ids)
        members = "".join(f"      - {id}\n" for id in ids)
        registry = f"criteria:\n{entries}\npresets:\n  all:\n    criteria:\n{members}"
        texts = {made / "config.yml": config, made / paths.registry_file: registry}
        for id in ids:
            texts |= new_prompts(made / paths.base_path, id, languages, scale, readers=False)
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        (made / "data").mkdir()
    return [folder / path.relative_to(made) for path in texts]


def _equal_weights(ids: Sequence[str]) -> str:
    paths = [id.partition("__v")[0].split(".") for id in ids]
    categories = dict.fromkeys(category for category, _, _ in paths)
    lines = [f"categories: {_equal(categories)}", "subcategories:"]
    lines += [f'  "{name}": {_equal(group for category, group, _ in paths if category == name)}' for name in categories]
    lines.append("criteria:")
    for key in dict.fromkeys((category, group) for category, group, _ in paths):
        names = _equal(name for *above, name in paths if tuple(above) == key)
        lines.append(f'  "{".".join(key)}": {names}')
    return "\n".join(lines)


def _equal(named: Iterable[str]) -> str:
    """A mapping of names to weights of two decimals that sum to 1; the last takes what is left."""
    names = list(dict.fromkeys(named))
    hundredths = [100 // len(names)] * len(names)
    hundredths[-1] += 100 - sum(hundredths)
    return "{" + ", ".join(f'"{name}": {part / 100:.2f}' for name, part in zip(names, hundredths, strict=True)) + "}"


def add_criterion(suite: Suite, criterion: str) -> list[Path]:
    """Add a criterion to a suite's registry, with a prompt file in each language; return the written files.

    It comes after the criteria that are there. If the default selection is a preset whose criteria stand one to a line, the
    criterion is added to it, too. The prompt files have the suite's scale, and the reader's age if the suite has personas.

    Raises:
        CriteriaError: the id is malformed, or taken.
        ConfigError: a prompt file exists already, or the form of the registry does not allow a new entry.
        StorageError: a file cannot be written.
    """
    if suite.folder.resolve().is_relative_to(BUNDLED):
        raise ConfigError("is a bundled suite and read-only: copy it first with areopage suites new DIR", path=suite.folder)
    match = CRITERION_ID.fullmatch(criterion)
    if match is None:
        raise CriteriaError(f"{criterion!r} is not an id: write category.subcategory.name__vX_Y in a-z, 0-9 and _")
    if criterion in suite.registry.entries:
        raise CriteriaError(f"{criterion} is already in the registry: increase its version")
    languages = suite.config.languages
    readers = any(suite.personas(language) for language in languages)
    texts = new_prompts(suite.criteria_folder, criterion, languages, suite.scale, readers=readers)
    for file in texts:
        if file.exists():
            raise ConfigError("already exists", path=file)
    registry = suite.registry.document.path
    entry = new_entry(criterion, languages)
    try:
        changed = _with_entry(registry.read_text(encoding="utf-8-sig"), entry, registry)
        changed = _with_member(changed, suite.config.criteria.default_selection, criterion, registry)
        for file, text in texts.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        with tempfile.TemporaryDirectory(dir=registry.parent, prefix=".areopage-") as scratch:
            rewritten = Path(scratch) / registry.name
            rewritten.write_text(changed, encoding="utf-8")
            shutil.copymode(registry, rewritten)
            rewritten.replace(registry)
    except OSError as error:
        raise StorageError(f"{error.filename or registry} cannot be written: {error.strerror}") from None
    return [*texts, registry]


def new_entry(criterion: str, languages: Sequence[str]) -> str:
    """The lines of a new criterion in a registry; its description is to be written."""
    path, _, version = criterion.partition("__v")
    category, subcategory, name = path.split(".")
    label, description = (
        ", ".join(f'{language}: "{text}"' for language in languages) for text in (name.replace("_", " ").capitalize(), "...")
    )
    return (
        f'{criterion}:\n  version: "{version.replace("_", ".")}"\n  category: "{category}"\n  subcategory: "{subcategory}"\n'
        f'  name: "{name}"\n  label: {{{label}}}\n  description: {{{description}}}\n  file: "{_prompt_file(criterion)}"\n'
        "  severity: critical  # or serious, or minor\n"
    )


def new_prompts(folder: Path, criterion: str, languages: Sequence[str], scale: Scale, *, readers: bool) -> dict[Path, str]:
    """The prompt files of a new criterion, to fill in, by their paths."""
    path, (first, *others) = folder / _prompt_file(criterion), languages
    paths = {first: path, **{language: path.with_suffix(f".{language}.prompt") for language in others}}
    # The scoring guide has a line for each score, or for both ends of a scale of many.
    ends = (scale.min, scale.max)
    few = all(end.is_integer() for end in ends) and scale.max - scale.min <= MOST_LINES
    scores = range(int(scale.min), int(scale.max) + 1) if few else ends
    prompts: dict[Path, str] = {}
    for language, file in paths.items():
        source = TEMPLATES / f"{language}.prompt"
        text = (source if source.is_file() else TEMPLATES / "en.prompt").read_text(encoding="utf-8")
        prompts[file] = Template(text if readers else _AGE_CONTEXT.sub("", text)).substitute(
            min=f"{scale.min:g}",
            max=f"{scale.max:g}",
            higher_is_better=str(scale.higher_is_better).lower(),
            guide="\n".join(f"  {score:g} - ..." for score in scores),
        )
    return prompts


def _prompt_file(criterion: str) -> str:
    category, subcategory, last = criterion.split(".", 2)
    return f"{category}/{subcategory}/{last}.prompt"


def _with_entry(text: str, entry: str, path: Path) -> str:
    """A registry's text with an entry put last under `criteria:`; comments and order of the rest stay."""
    before = parse_yaml(text, path).data["criteria"]
    lines = text.splitlines(keepends=True)
    heads = [position for position, line in enumerate(lines) if re.fullmatch(r"criteria:\s*(#.*)?", line.strip("\r\n"))]
    if len(heads) == 1:
        below = lines[heads[0] + 1 :]
        first = next((line for line in below if line.strip() and not line.lstrip().startswith("#")), "")
        indent = first[: len(first) - len(first.lstrip())]
        ends = [number for number, line in enumerate(below) if re.match(r"[^\s#]", line)]
        inside = below[: ends[0] if ends else None]
        last = max((number for number, line in enumerate(inside, 1) if re.match(r"\s+\S", line)), default=0)
        kept = "".join([*lines[: heads[0] + 1], *below[:last]]).removesuffix("\n")
        changed = "".join([kept, "\n", textwrap.indent(entry, indent), *below[last:]])
        with suppress(ConfigError):
            after = parse_yaml(changed, path).data["criteria"]
            if {key: raw for key, raw in after.items() if key in before} == before and len(after) == len(before) + 1:
                return changed
    raise ConfigError(
        f"cannot be added to as it is written; put this below `criteria` by hand: {' '.join(entry.split())}", path=path
    )


def _with_member(text: str, preset: str, criterion: str, path: Path) -> str:
    """A registry's text with a criterion put last in a preset; as it is where there is no such preset, or no list in lines."""
    document = parse_yaml(text, path)
    places = [line for keys, line in document.lines.items() if keys[:-1] == ("presets", preset, "criteria")]
    lines = text.splitlines(keepends=True)
    match = re.match(r"\s*- ", lines[max(places) - 1]) if places else None
    if match is None:
        return text
    before = "".join(lines[: max(places)]).removesuffix("\n")
    changed = "".join([before, f"\n{match.group()}{criterion}\n", *lines[max(places) :]])
    with suppress(ConfigError):
        after = parse_yaml(changed, path).data
        if after["presets"][preset]["criteria"] == [*document.data["presets"][preset]["criteria"], criterion]:
            return changed
    return text
