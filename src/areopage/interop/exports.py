"""The formats of other tools that a run is exported in."""

from areopage.bench import Export, for_people
from areopage.interop.huggingface import write_huggingface
from areopage.interop.inspect_export import write_inspect_log
from areopage.interop.junit import write_junit
from areopage.interop.sarif import write_sarif

JUNIT = for_people("junit.xml", write_junit)
SARIF = for_people("results.sarif", write_sarif)
INSPECT = Export("inspect.eval", lambda view, path, options: write_inspect_log(view, path))
HUGGINGFACE = Export("dataset", lambda view, path, options: write_huggingface(view, path, options.licence), licensed=True)
