"""Entry of the command `areopage`, and the tree of its commands."""

import sys
from typing import NoReturn

import click

from areopage import __version__
from areopage.cli.lazy import LazyGroup
from areopage.errors import UserError

USER_ERROR = 2
INTERRUPTED = 130

BENCH = LazyGroup(
    "bench",
    "Is a model fit for an audience? Answer a dataset, judge the answers, score.",
    commands={
        "run": ("bench:run", "Run a benchmark; an interrupted run with the same wishes is resumed."),
        "resume": ("bench:resume", "Resume a run; calls that timed out or found no server are tried again."),
        "list": ("bench:list_runs", "List the runs of a ledger, the newest first."),
        "show": ("bench:show", "Show the scores of a run and how its judges did."),
        "rescore": ("bench:rescore", "Score a run again from the ledger; no model is called."),
        "export": ("bench:export", "Write every judgment of a run, raw texts included."),
    },
)
CRITERIA = LazyGroup(
    "criteria",
    "The criteria of a suite.",
    commands={
        "list": ("suites:list_criteria", "List criteria and presets."),
        "show": ("suites:show_criterion", "Show a criterion as a judge reads it."),
        "validate": ("suites:validate_criteria", "Name everything that is wrong with a suite's criteria and weights."),
        "new": ("suites:new_criterion", "Add a criterion to a suite of yours."),
    },
)
SUITES = LazyGroup(
    "suites",
    "Suites: folders with a configuration, criteria, personas and data.",
    commands={
        "list": ("suites:list_suites", "List the bundled suites."),
        "show": ("suites:show_suite", "Show what a suite holds."),
        "validate": ("suites:validate_suite", "Name everything that is wrong with a suite, all at once."),
        "new": ("suites:new_suite", "Make a suite of your own, as a copy of another."),
    },
)
MODELS = LazyGroup(
    "models",
    "The models that can be asked.",
    commands={
        "list": ("models:list_models", "List the models of a provider's server; without one, list the providers."),
        "check": ("models:check", "Make sure that a model or a judge can be asked."),
        "pull": ("models:pull", "Fetch the embedded model into the user's cache."),
    },
)
ALERTS = LazyGroup(
    "alerts",
    "Alerts: what is open, and whether they arrive.",
    commands={
        "list": ("monitor:list_alerts", "List the newest alerts, and what became of their delivery."),
        "test": ("monitor:test_alerts", "Send a message to every address of `alerts.urls`."),
    },
)
GOLDEN = LazyGroup(
    "golden",
    "Golden questions: fixed ones, put to the live bot and compared round by round.",
    commands={
        "run": ("monitor:run_golden", "Ask every golden question now; the running worker judges the answers."),
        "list": ("monitor:list_rounds", "List the newest rounds with their verdicts."),
    },
)
MONITOR = LazyGroup(
    "monitor",
    "Quality of answers in production: judge, store, alert, report.",
    groups={"alerts": ALERTS, "golden": GOLDEN},
    commands={
        "worker": ("monitor_worker:worker", "Evaluate submitted answers until stopped; start as many as you like."),
        "submit": ("monitor_worker:submit", "Submit the answers of files for evaluation."),
        "status": ("monitor_worker:status", "Show what waits, and who works."),
        "retry": ("monitor_worker:retry", "Let answers that were given up be tried again from the start."),
        "report": ("monitor_report:report", "Write a report on the quality of the answers of some days."),
        "export": ("monitor_store:export", "Write answers with their scores into a file."),
        "rescore": ("rescore:monitor", "Score answers again by other weights, rules or judges; no model is called."),
        "erase": (
            "monitor_store:erase",
            "Erase all texts of answers for good: theirs, and what judges and people wrote of them.",
        ),
    },
)
KEYS = LazyGroup(
    "keys",
    "API keys of the server: who may read, submit answers, or erase.",
    commands={
        "create": ("server:create_key", "Make a key and show it, once: only its hash is kept."),
        "list": ("server:list_keys", "List keys: id, role, day of creation, state, name and collections."),
        "revoke": ("server:revoke_key", "Revoke a key; servers notice within seconds."),
    },
)
DATASET = LazyGroup(
    "dataset",
    "Answers that did not pass, as a data set.",
    commands={"export": ("gate_data:export", "Write answers that did not pass with their documents, reasons and labels.")},
)
GATE = LazyGroup(
    "gate",
    "The quality gate: which answers may leave, and why others may not.",
    groups={"dataset": DATASET},
    commands={
        "check": ("gate:check", "Decide on an answer: verdict, reasons, sentences."),
        "report": ("gate_report:report", "Write a report on what became of the answers, and why."),
        "tune": ("gate_tune:tune", "Choose thresholds that keep a stated risk with a stated certainty."),
        "rescore": ("rescore:gate", "Score again what the gate's judge said; no model is called."),
        "replay": ("gate_replay:replay", "Decide again on recorded answers by other rules."),
        "import": ("gate_data:import_logs", "Take the logs of an older system into the ledger."),
    },
)
REVIEW = LazyGroup(
    "review",
    "People's labels of answers: a queue, and how to give them.",
    commands={
        "list": ("review:list_items", "List the answers that wait for a label, or were held back."),
        "show": ("review:show", "Show an answer to somebody who will label it."),
        "label": ("review:label", "Label an answer with scores, or say whether its documents support it."),
        "fill": ("review:fill", "Queue what should be looked at."),
        "import": ("review:import_file", "Take labels from a table (CSV, XLSX, JSON Lines)."),
    },
)
RAG = LazyGroup(
    "rag",
    "Documents in, answers out: ingest, search, ask.",
    commands={
        "ask": ("rag:ask", "Ask a question: retrieve, generate, and let the gate decide what becomes of the answer."),
        "ingest": ("rag:ingest", "Bring a collection up to date with a folder of documents."),
        "search": ("rag:search", "Show what is found for a question, best first, with scores in [0, 1]."),
        "collections": ("rag:collections", "List the collections."),
        "export-traces": ("rag:export_traces", "Bring the trace files that `rag.traces` names to what the ledger has, once."),
    },
)
LEDGER = LazyGroup(
    "ledger",
    "The ledger itself: compare, compute again, export.",
    commands={
        "check": ("ledger:check", "Compare every stored score and count with what it is computed from."),
        "rebuild": ("ledger:rebuild", "Compute every stored score and count again; no model is called."),
        "export": ("ledger:export", "Write answers, evaluations, judgments, labels and decisions into a folder."),
    },
)
DEMO = LazyGroup(
    "demo",
    "Try it on this computer, without server or key.",
    commands={"gate": ("demo:gate", "Answer questions about an invented bank, and see what the gate lets out.")},
)


def show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        click.echo(f"areopage {__version__}")
        context.exit()


app = LazyGroup(
    "areopage",
    "A jury of judges that says whether answers of a language model are safe, right and grounded.",
    groups={
        group.name or "": group for group in (BENCH, CRITERIA, SUITES, MODELS, MONITOR, KEYS, GATE, REVIEW, RAG, LEDGER, DEMO)
    },
    commands={
        "agreement": ("agreement:agreement", "Judge against people: correlation, weighted kappa, bias."),
        "serve": ("server:serve", "Serve the API and the pages, and evaluate what is submitted."),
        "init": ("server:init", "Write an areopage.yml with every key, its default and what it means."),
    },
    params=[
        click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=show_version, help="Print the version."
        )
    ],
)


def main() -> None:
    """Run the command; a mistake that the user can mend is one line and exit code 2."""
    try:
        code = app(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as usage:
        usage.show()
        sys.exit(USER_ERROR)
    except click.ClickException as usage:
        complain(f"{usage.format_message()} (--help shows all options)")
    except UserError as fault:
        complain(str(fault))
    except (click.Abort, KeyboardInterrupt):
        click.echo("areopage: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # whoever read our output has gone; the interpreter would complain once more while flushing
        sys.stdout = None
        sys.exit(INTERRUPTED)
    except UnicodeEncodeError:
        complain("a name holds bytes that are not UTF-8: rename the file, or write it otherwise")
    except OSError as fault:
        complain(f"{fault.filename}: {fault.strerror}" if fault.filename else str(fault))
    sys.exit(code if isinstance(code, int) else 0)


def complain(message: str) -> NoReturn:
    """One line on stderr, and the exit code of a user's mistake."""
    click.echo(f"areopage: {' '.join(message.split())}", err=True)
    sys.exit(USER_ERROR)
