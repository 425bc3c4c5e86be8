"""What the extension registers."""

from areopage.extensions import Command, Extension

EXTENSION = Extension(
    commands={
        "qualify": Command(
            "Examine judges on a suite's gold set, and store which are qualified on which criteria.",
            "areopage.exams.commands.qualify:qualify",
            after="verify",
        ),
        "audit": Command(
            "Audit a judge: do harmless changes or attacks move its scores?",
            "areopage.exams.commands.audit:audit",
            after="qualify",
        ),
        "gate qualify": Command(
            "Examine the judge that the gate asks about doubtful sentences.",
            "areopage.exams.commands.gate:qualify",
            after="report",
        ),
    },
    parts={
        "jobs": {"canaries": "areopage.exams.canary_job:canary_job"},
        "runs": {"exam": "areopage.exams.exam_plan:missing_exam_size"},
        "schemas": {"audit": "areopage.exams.audit_report:AUDIT_SCHEMA"},
        "tour": {"exam": "areopage.exams.tour:examine_judges"},
    },
)
