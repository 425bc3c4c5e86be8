"""What the extension registers."""

from areopage.extensions import Extension

EXTENSION = Extension(
    parts={
        "claims": {"regression": "areopage.compare.claims:decide_regression"},
        "runs": {
            "targets": "areopage.cli.bench.league:run_league",
            "languages": "areopage.cli.bench.languages:run_languages",
            "verdict": "areopage.cli.bench.languages:show_languages",
        },
        "tour": {"comparison": "areopage.compare.tour:show_comparison"},
    }
)
