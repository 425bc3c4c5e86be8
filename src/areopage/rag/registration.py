"""What the extension registers."""

from areopage.extensions import Command, Extension

EXTENSION = Extension(
    commands={
        "rag": Command("Retrieval-augmented answers: ingest documents, search, ask.", after="calibrate"),
        "rag ask": Command(
            "Ask a question: retrieve documents, generate an answer, apply the gate.", "areopage.rag.commands:ask"
        ),
        "rag ingest": Command("Update a collection from a folder of documents.", "areopage.rag.commands:ingest"),
        "rag search": Command(
            "Show the passages found for a question, best first, with scores in [0, 1].", "areopage.rag.commands:search"
        ),
        "rag collections": Command("List the collections.", "areopage.rag.commands:collections"),
        "rag export-traces": Command(
            "Update the trace files of `rag.traces` from the ledger once.", "areopage.rag.commands:export_traces"
        ),
        "demo gate": Command("Answer questions about an invented bank through the gate.", "areopage.rag.demo.command:gate"),
    },
    parts={
        "pages": {"chat": "areopage.rag.page:PART", "chat api": "areopage.rag.api:PART"},
        "services": {"answers": "areopage.rag.service:open_service"},
    },
)
