"""The demo's PDF is what its script writes, and says what the script says."""

from areopage.rag.ingestion.chunking import SourceText
from areopage.rag.ingestion.reading import RowFields, find_files, read_documents
from servers.demo_pdf import PAGES, PDF, TITLE, pdf_bytes


def test_the_pdf_is_what_its_script_writes() -> None:
    assert PDF.read_bytes() == pdf_bytes(TITLE, PAGES)


def test_each_page_is_read_with_its_number_and_its_articles() -> None:
    files, _ = find_files(PDF)
    (document,) = read_documents(files[0], RowFields())
    assert isinstance(document, SourceText)
    assert document.title == TITLE
    assert [part.page for part in document.parts] == [1, 2]
    assert "Article 2. Rétractation" in document.parts[0].text
