"""What the extension registers."""

from areopage.extensions import Command, Extension

EXTENSION = Extension(
    commands={
        "bench compare": Command(
            "Compare runs with a first one, with earlier runs, or with production: what got worse and why.",
            "areopage.compare.commands.compare:compare",
            after="rescore",
        ),
        "bench league": Command(
            "Compare runs of several targets that one panel judged on the same cases.",
            "areopage.compare.commands.league:league",
            after="compare",
        ),
        "bench trend": Command(
            "Show the runs of one target in time order, and whether each fails more often than those before.",
            "areopage.compare.commands.league:trend",
            after="league",
        ),
        "monitor compare": Command(
            "Compare the variants of an A/B test with one of them.", "areopage.compare.variants.command:compare", after="report"
        ),
    },
    parts={
        "claims": {"regression": "areopage.compare.claims:decide_regression"},
        "pages": {"runs": "areopage.compare.pages.runs:PART", "variants": "areopage.compare.pages.variants:PART"},
        "runs": {
            "targets": "areopage.compare.commands.league:run_league",
            "languages": "areopage.compare.commands.languages:run_languages",
            "verdict": "areopage.compare.commands.languages:show_languages",
        },
        "tour": {"comparison": "areopage.compare.tour:show_comparison"},
    },
)
