"""What the documentation site adds to the pages of this folder: the reference made from the code, and notes.

MkDocs calls the functions `on_*` (see `hooks` in mkdocs.yml).
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from reference_pages import OPENAPI, PAGES, SCHEMA_FOLDER, api_file

_FENCE = re.compile(r"^```(?P<kind>\w+) (?P<file>[\w./-]+)$", re.MULTILINE)
_OUTSIDE = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<address>\.\./[^)\s]*)\)")
_OTHER_LANGUAGE = re.compile(r"^\[(?:Français|English)\]\([\w./-]+\.md\)\n", re.MULTILINE)  # the site has a menu for that
_UNTRANSLATED = '!!! note "En anglais"\n    Cette page n’est pas encore traduite.\n\n'
_FIRST_FOUND = ("explanations/", "tutorials/")
_HOME = ("index.md", "index.fr.md")
_DECISIONS = "decisions/index.md"
_FRENCH = "fr/"
_INDEX = "search_index.json"
_BASE = re.compile(r'"base": "\.\.(?:/(?P<above>[./]+))?"')
_GENERATED = "<!-- generated from the code: docs/tools/reference_pages.py -->\n\n"


def _contents() -> Mapping[str, str]:
    pages = {place: _GENERATED + page() for place, page in PAGES.items()}
    return pages | {f"{SCHEMA_FOLDER}/{OPENAPI}": api_file()}


def _add(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and the schema of the API before the plugin that looks for translations."""
    for place in (*PAGES, f"{SCHEMA_FOLDER}/{OPENAPI}"):
        if files.get_file_from_path(place) is None:
            files.append(File(place, config.docs_dir, config.site_dir, config.use_directory_urls))
    return files


def _fill(files: Files, config: MkDocsConfig) -> Files:
    """Give them their contents after it: it makes new files by their paths."""
    contents = _contents()
    for file in files:
        if file.src_uri in contents:
            file.content_string = contents[file.src_uri]
    return files


on_files = CombinedEvent(event_priority(100)(_add), event_priority(-200)(_fill))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Give names of files to blocks, keep the names of linked files that the site does not have, and mark English text."""
    if page.file.src_uri.startswith(_FIRST_FOUND):
        page.meta["search"] = {"boost": 3}
    if page.file.src_uri in _HOME:
        page.meta["hide"] = ["navigation"]  # it has no pages beside it
    depth = len(PurePosixPath(page.file.src_uri).parents) - 1

    def inside(link: re.Match[str]) -> str:
        parts = PurePosixPath(link["address"]).parts
        return link[0] if sum(one == ".." for one in parts) <= depth else link["text"]

    markdown = _OTHER_LANGUAGE.sub("", markdown)
    markdown = _OUTSIDE.sub(inside, _FENCE.sub(r'```\g<kind> title="\g<file>"', markdown))
    if page.file.src_uri == _DECISIONS:
        markdown += _list_of_decisions(files)
    if _language(config) == "fr" and not page.file.src_uri.endswith(".fr.md"):
        head, _, rest = markdown.partition("\n# ") if not markdown.startswith("# ") else ("", "", markdown[2:])
        title, _, body = rest.partition("\n")
        return f"{head}\n# {title}\n\n{_UNTRANSLATED}{body}"
    return markdown


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Make a French page search the French index: the theme looks for it, and for what it finds, below `base`."""
    if _language(config) != "fr":
        return output
    return _BASE.sub(lambda base: f'"base": "{base["above"] or "."}"', output, count=1)


@event_priority(-200)
def on_post_build(config: MkDocsConfig) -> None:
    """Divide the index by language, after the plugins that gather it and that write it as a script."""
    whole = json.loads((Path(config.site_dir) / "search" / _INDEX).read_text(encoding="utf-8"))
    french = [one | {"location": one["location"].removeprefix(_FRENCH)} for one in whole["docs"] if _is_french(one)]
    english = [one for one in whole["docs"] if not _is_french(one)]
    for place, languages, entries in ((".", ["en"], english), (_FRENCH, ["fr", "en"], french)):
        folder = Path(config.site_dir) / place / "search"
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"config": whole["config"] | {"lang": languages}, "docs": entries}, ensure_ascii=False)
        (folder / _INDEX).write_text(text, encoding="utf-8")
        (folder / _INDEX).with_suffix(".js").write_text(f"var __index = {text}", encoding="utf-8")


def _is_french(entry: Mapping[str, str]) -> bool:
    return entry["location"].startswith(_FRENCH)


def _list_of_decisions(files: Files) -> str:
    """Links to all decisions with their headings."""
    pages = [file for file in files.documentation_pages() if file.src_uri.startswith("decisions/0")]
    headings = {file.src_uri: file.content_string.partition("\n")[0].removeprefix("# ") for file in pages}
    return "\n" + "".join(f"- [{headings[uri]}]({PurePosixPath(uri).name})\n" for uri in sorted(headings))


def _language(config: MkDocsConfig) -> str:
    return str(config.theme["language"])
