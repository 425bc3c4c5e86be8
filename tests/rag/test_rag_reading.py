"""Files as documents: what is read, what is not and why."""

import os
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from areopage.errors import DatasetError
from areopage.rag.ingestion import reading_pdf
from areopage.rag.ingestion.chunking import SourceFile, SourceText, Unread
from areopage.rag.ingestion.reading import LARGEST_TEXT, RowFields, find_files, read_documents
from areopage.rag.ingestion.reading_html import read_html


def found(path: Path) -> SourceFile:
    return SourceFile(path=path, name=path.name, size=path.stat().st_size)


def document(path: Path) -> SourceText:
    (one,) = read_documents(found(path), RowFields())
    assert isinstance(one, SourceText)
    return one


def test_markdown_is_cut_at_headings_and_its_front_matter_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "guide.md"
    path.write_text(
        "---\ntitle: Le guide\nsource: aide\nversion: 3\nrevu: 2026-03-01\n---\n# Prêts\n\n## Délai\nDix jours.\n\n"
        "```\n# pas un titre\n```\n## Frais ##\nAucun.\n# Fin\n",
        encoding="utf-8",
    )
    read = document(path)
    assert (read.title, read.source, read.metadata) == ("Le guide", "aide", {"version": 3, "revu": "2026-03-01"})
    assert [part.headings for part in read.parts] == [("Prêts", "Délai"), ("Prêts", "Frais")]
    assert read.parts[0].text == "Délai\nDix jours.\n\n```\n# pas un titre\n```"


def test_front_matter_that_is_no_yaml_is_told(tmp_path: Path) -> None:
    path = tmp_path / "guide.md"
    path.write_text("---\n: [\n---\ntexte")
    with pytest.raises(DatasetError, match="front matter is not YAML"):
        document(path)


def test_front_matter_of_aliases_of_aliases_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bombe.md"
    rows = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]
    path.write_text("\n".join(["---", *rows, "---", "texte"]))
    with pytest.raises(DatasetError, match="front matter has aliases"):
        document(path)


def test_a_row_with_much_beside_its_text_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"text": "Un texte.", "page": "{"x" * 30_000}"}}\n')
    (one,) = read_documents(found(path), RowFields())
    assert isinstance(one, Unread)
    assert (one.row, "larger than 20,000 bytes" in one.reason) == (1, True)


def test_two_rules_at_the_top_of_markdown_are_no_front_matter(tmp_path: Path) -> None:
    path = tmp_path / "guide.md"
    path.write_text("---\nBonjour.\n---\nSuite.")
    assert "Bonjour." in document(path).parts[0].text


def test_html_gives_the_text_that_a_reader_sees(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<html><head><title> Les\n frais </title><style>p{}</style></head><body><script>var x='<p>secret</p>'</script>"
        "<h1>Frais</h1><p>Dix&nbsp;euros<br>par <b>mois</b>.</p><div hidden><div>caché</div>encore</div>"
        "<p style='display: none'>invisible</p><h2>Tableau</h2><table><tr><td>A</td><td>12 €</td></tr></table>"
        "<ul><li>un<li>deux</ul><h2>Vide</h2><!-- rien --></body>",
        encoding="utf-8",
    )
    read = document(path)
    assert read.title == "Les frais"
    assert [(part.headings, part.text) for part in read.parts] == [
        (("Frais",), "Frais\nDix euros\npar mois."),
        (("Frais", "Tableau"), "Tableau\nA | 12 €\nun\ndeux"),
    ]


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p hidden>caché<p>visible", "visible"),
        ("<div><p hidden>caché</div>visible", "visible"),
        ("<ul><li hidden>caché<ul><li>dessous</ul><li>visible</ul>après", "visible\naprès"),
        ("<table><tr hidden><td>a<td>b<tr><td>c<td>d</table>fin", "c | d\nfin"),
        ("<table><tr><td hidden>a<td>b</table>fin", "b\nfin"),
        ("<head><title>T</title><p>texte", "texte"),
        ("a<!-- x --!>b", "ab"),
        ("<dialog>un</dialog><dialog open>deux</dialog>", "un\ndeux"),
    ],
)
def test_what_is_invisible_in_html_ends_where_a_browser_ends_it(page: str, text: str) -> None:
    assert [part.text for part in read_html(page).parts] == [text]


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ("<tr><th><th>2023<th>2024<tr><td>A<td>4 €<td>", "| 2023 | 2024\nA | 4 €"),
        ("<tr><td rowspan=2>A<td>5 €<tr><td>6 €<tr><td>B<td>7 €", "A | 5 €\n| 6 €\nB | 7 €"),
        (
            "<tr><th>Zone<th colspan=2>Prix<th>Durée<tr><td>A<td>5 €<td>6 €<td>un an",
            "Zone | Prix | | Durée\nA | 5 € | 6 € | un an",
        ),
        (
            "<tr><td><p>Zone</p></td><td><p>Prix</p></td></tr><tr><td><p>A</p></td><td><p>5 €</p></td></tr>",
            "Zone | Prix\nA | 5 €",
        ),
        ("<tr><td rowspan=99999999999>A<td colspan=x>5 €", "A | 5 €"),
    ],
)
def test_a_value_of_an_html_table_stays_in_its_column(rows: str, text: str) -> None:
    assert [part.text for part in read_html(f"<table>{rows}</table>").parts] == [text]


def test_raised_digits_of_html_are_not_glued_to_a_number() -> None:
    page = read_html("10<sup>3</sup> CFU, 250<sup>1</sup> euros, 12 m<sup>2</sup>, le 1<sup>er</sup> mars, H<sub>2</sub>O")
    assert page.parts[0].text == "10³ CFU, 250¹ euros, 12 m², le 1er mars, H2O"


@pytest.mark.parametrize(
    ("declaration", "codec", "text"),
    [
        ('<meta charset="iso-8859-15">', "iso-8859-15", "12 € pour un cœur"),
        ("<meta http-equiv='Content-Type' content='text/html; charset=windows-1251'>", "cp1251", "Цена"),
        ('<?xml version="1.0" encoding="ISO-8859-2"?>', "iso-8859-2", "Łódź"),
        ('<meta charset="shift_jis">', "cp932", "価格は五百円です"),
        ('<meta charset="iso-8859-1">', "cp1252", "12 € pour un cœur"),
        ('<meta charset="iso-8859-1">', "utf-8", "12 € pour un cœur"),
        ('<meta charset="unicode_escape">', "cp1252", "un café à 12 €"),
        ("", "cp1252", "12 € pour un cœur"),
    ],
)
def test_html_is_decoded_as_its_head_says_where_it_is_no_utf_8(tmp_path: Path, declaration: str, codec: str, text: str) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(f"{declaration}<p>{text}</p>".encode(codec))
    assert document(path).parts[0].text == text


def test_html_of_many_open_tags_is_read_in_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("<div hidden>" + "<b>" * 40_000 + "</i>" * 40_000 + "</div>" + "<b>x" * 40_000)
    assert len(document(path).parts[0].text) == 40_000


@pytest.mark.parametrize(
    "piece",
    [
        "<a ",
        "<a <b ",
        "<!--",
        "<",
        "</",
        "<a b='",
        "<a =\"' ",
        "<script>",
        "<![CDATA[",
        "&#",
        "<x/",
        "<p\t=",
        "<table>",
        "<b> ",
        "<td colspan=99>",
    ],
)
def test_html_is_read_in_linear_time_whatever_is_repeated(piece: str) -> None:
    began = time.thread_time()
    read_html("<p>Start</p>" + piece * 50_000)
    assert time.thread_time() - began < 10


def test_html_that_ends_within_a_tag_keeps_its_text() -> None:
    page = read_html(
        "<p>Dix&nbsp;euros, a < b</p><!-- x > y --><script>if (a<b) '</p>'</script><a title='x>y' HREF=z>Lien</a> <i clas"
    )
    assert [part.text for part in page.parts] == ["Dix euros, a < b\nLien <i clas"]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("SECONDS", 0.0, "it takes more than"),
        ("MOST_PAGES", 2, "has 3 pages, more than 2: split it"),
        ("MOST_TEXT", 20, "its pages hold more than"),
    ],
)
def test_a_pdf_that_takes_too_much_work_is_left_out_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: float, says: str
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf("Article 1. The fee is 12 EUR.", "Article 2.", "Last page."))
    assert len(document(path).parts) == 3
    monkeypatch.setattr(reading_pdf, name, value)
    monkeypatch.setattr(reading_pdf, "SECONDS_PER_MEGABYTE", 0.0)
    with pytest.raises(DatasetError, match=says):
        document(path)


def test_a_page_of_a_pdf_does_not_take_forever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_pdf, "time", SimpleNamespace(monotonic=count().__next__))  # a second for each look at the clock
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf("Article 1."))
    assert document(path).parts[0].text.strip() == "Article 1."
    path.write_bytes(pdf(") Tj (".join(f"Article {number}." for number in range(100))))
    with pytest.raises(DatasetError, match="it takes more than 30 s"):
        document(path)


def test_a_windows_1252_file_is_read_and_a_binary_one_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("Le délai".encode("cp1252"))
    (tmp_path / "b.txt").write_bytes(b"\x00\x01\x02")
    assert document(tmp_path / "a.txt").parts[0].text == "Le délai"
    with pytest.raises(DatasetError, match="not a text file"):
        document(tmp_path / "b.txt")


def test_rows_map_their_fields_and_bad_ones_are_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"body": "Un texte.", "ref": 7, "title": "T", "source": "s", "lang": "fr", "metadata": {"a": 1}}\n'
        '{"body": ""}\nnot json\n{"body": "Encore."}\n'
    )
    read = list(read_documents(found(path), RowFields(text="body", id="ref")))
    good = [one for one in read if isinstance(one, SourceText)]
    bad = [one for one in read if isinstance(one, Unread)]
    assert [(one.id, one.title, one.source, one.item) for one in good] == [("7", "T", "s", "7"), ("", "", "", "row 4")]
    assert good[0].metadata == {"lang": "fr", "a": 1}
    assert [one.row for one in bad] == [2, 3]
    assert "'body' holds no text" in bad[0].reason


def test_hidden_files_links_out_and_other_kinds_are_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "x.md").write_text("x")
    (folder / "sub" / "a.md").write_text("a")
    (folder / "b.docx").write_text("x")
    (folder / "empty.md").write_text("")
    (tmp_path / "secret.md").write_text("secret")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "in.md").symlink_to(folder / "sub" / "a.md")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.md")
    with (folder / "huge.txt").open("wb") as stream:
        stream.truncate(LARGEST_TEXT + 1)
    files, unread = find_files(folder)
    assert [file.name for file in files] == ["in.md", "sub/a.md"]
    reasons = {one.file: one.reason for one in unread}
    assert set(reasons) == {"b.docx", "empty.md", "out.md", "loop", "pipe.md", "huge.txt"}
    assert "split it" in reasons["huge.txt"]


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="there is no folder"):
        find_files(tmp_path / "nowhere")


def pdf(*pages: str, password: str = "", title: str = "") -> bytes:
    """A small PDF, one line of text a page."""
    from io import BytesIO

    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(300, 300)
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        content = DecodedStreamObject()
        content.set_data(f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode("latin-1") if text else b"")
        page[NameObject("/Contents")] = content
    if title:
        writer.add_metadata({"/Title": title})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    stream = BytesIO()
    writer.write(stream)
    return stream.getvalue()


def test_a_pdf_is_read_page_by_page_and_pages_without_text_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf("Article 1. The fee is 12 EUR.", "", "Last page."))
    told, read = read_documents(found(path), RowFields())
    assert isinstance(told, Unread)
    assert isinstance(read, SourceText)
    assert "1 of 3 pages hold no text (2)" in told.reason
    assert [(part.page, part.text.strip()) for part in read.parts] == [(1, "Article 1. The fee is 12 EUR."), (3, "Last page.")]


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("Staff handbook", "Staff handbook"),
        ("tmp.html", ""),
        ("Microsoft Word - notes", ""),
        ("Untitled", ""),
        ("Form 1.2", "Form 1.2"),
    ],
)
def test_the_name_of_a_temporary_file_is_no_title(tmp_path: Path, title: str, kept: str) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf("The fee is 12 EUR.", title=title))
    assert document(path).title == kept


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (pdf("x", password="secret"), "encrypted"),
        (pdf("", ""), "none of its 2 pages holds text"),
        (b"%PDF-1.4 broken", "cannot be read"),
    ],
)
def test_a_pdf_that_cannot_be_read_says_why(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=says):
        list(read_documents(found(path), RowFields()))


def test_what_names_a_document_in_front_matter_is_taken_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("---\nid: 0123\ntitle: NO\nsource: 18:30\nyear: 2024\nopen: off\n---\nText.\n", encoding="utf-8")
    read = document(path)
    assert (read.id, read.title, read.source) == ("0123", "NO", "18:30")
    assert read.metadata == {"year": 2024, "open": "off"}
