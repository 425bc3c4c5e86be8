"""A contract of import-linter: packages are used through what their `__init__` lists."""

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output


class Fronts(Contract):
    """No module imports a module inside another package of the root package; it imports names from the package itself."""

    type_name = "fronts"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Look at every import of the graph."""
        past = [
            f"{importer}:{detail['line_number']}: {detail['line_contents']}"
            for importer in sorted(graph.modules)
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if imported.count(".") > 1 and importer.split(".")[:2] != imported.split(".")[:2]
            if imported.split(".")[0] == importer.split(".")[0]
            for detail in graph.get_import_details(importer=importer, imported=imported)
        ]
        return ContractCheck(kept=not past, metadata={"past": past})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each import past a front."""
        for text in check.metadata["past"]:
            output.print_error(text)
