"""What the extension registers."""

from areopage.extensions import Command, Extension

EXTENSION = Extension(
    commands={
        "suites import": Command("Suites made from the files of other tools and benchmarks."),
        "suites import inspect": Command("Make a suite from a log of Inspect.", "areopage.interop.commands:inspect"),
        "suites import promptfoo": Command(
            "Make a suite from a configuration or tests of promptfoo.", "areopage.interop.commands:promptfoo"
        ),
        "suites import deepeval": Command(
            "Make a suite from goldens or test cases of deepeval.", "areopage.interop.commands:deepeval"
        ),
        "suites import kora": Command(
            "Make a suite from a KORA folder: scenarios, recorded conversations, grades.", "areopage.interop.commands:kora"
        ),
    },
    parts={
        "datasets": {
            ".eval": "areopage.interop.inspect_log:read_eval",
            "log": "areopage.interop.inspect_log:read_json_log",
            "folder": "areopage.interop.dataset_folder:dataset_files",
        },
        "exports": {
            "junit": "areopage.interop.junit:JUNIT",
            "sarif": "areopage.interop.sarif:SARIF",
            "inspect": "areopage.interop.inspect_export:INSPECT",
            "huggingface": "areopage.interop.huggingface:HUGGINGFACE",
        },
    },
)
