"""The demo's one PDF, written by hand: `python tests/servers/demo_pdf.py` puts it beside the demo's other pages.

PDF is text with an index of byte offsets; two pages in one of the fonts that every reader has need no library.
"""

from collections.abc import Sequence
from pathlib import Path

PDF = Path(__file__).parents[2] / "src" / "areopage" / "rag" / "demo" / "corpus" / "conditions-generales.pdf"
TITLE = "Conditions générales du compte"
PAGES = (
    (
        "Banque Orvane",
        "Conditions générales du compte, version du 1er mars 2026",
        "",
        "Article 1. Ouverture",
        "Le compte est ouvert après vérification de l'identité et du domicile du client.",
        "Un premier versement de 20 € est demandé. La banque répond en 3 jours ouvrés.",
        "",
        "Article 2. Rétractation",
        "Un client qui a ouvert son compte à distance peut se rétracter pendant 14 jours,",
        "sans frais et sans donner de motif.",
        "",
        "Article 3. Relevés",
        "Un relevé est mis à disposition chaque mois dans l'application. Il y reste 10 ans.",
        "L'envoi sur papier coûte 1,20 € par relevé.",
    ),
    (
        "Article 4. Procuration",
        "Le titulaire peut donner procuration à une personne majeure. Elle prend fin par",
        "lettre, et au décès du titulaire.",
        "",
        "Article 5. Modification",
        "La banque annonce toute modification deux mois à l'avance. Le client qui la refuse",
        "peut fermer son compte sans frais avant cette date.",
        "",
        "Article 6. Secret bancaire",
        "La banque ne communique les données du client qu'avec son accord ou dans les cas",
        "que la loi prévoit.",
    ),
)


def pdf_bytes(title: str, pages: Sequence[Sequence[str]]) -> bytes:
    """A PDF of A4 pages, each a sequence of lines; only what Windows' Latin alphabet holds can be written."""
    pairs = len(pages)
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(pairs))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /Lang (fr-FR) >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {pairs} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for index, lines in enumerate(pages):
        shown = b"\n".join(b"(" + escaped(line) + b") Tj T*" for line in lines)
        stream = b"BT /F1 11 Tf 15 TL 56 780 Td\n" + shown + b"\nET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * index} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n".encode() + stream + b"\nendstream")
    objects.append(b"<< /Title (" + escaped(title) + b") >>")
    written, offsets = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", list[int]()
    for number, body in enumerate(objects, start=1):
        offsets.append(len(written))
        written += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    index_at = len(written)
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    written += f"xref\n0 {size}\n0000000000 65535 f \n{table}".encode()
    return written + f"trailer\n<< /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>\nstartxref\n{index_at}\n%%EOF\n".encode()


def escaped(text: str) -> bytes:
    """A PDF string's inside."""
    return text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


if __name__ == "__main__":
    PDF.write_bytes(pdf_bytes(TITLE, PAGES))
