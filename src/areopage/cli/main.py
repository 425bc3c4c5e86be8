"""Entry point of the `areopage` command and its command tree; commands are imported on use, so that help is fast."""

import codecs
import errno
import math
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any, NoReturn, TypeVar

import click
import typer
from typer.core import TyperCommand

from areopage.cli.exit_codes import INTERRUPTED, USER_ERROR
from areopage.cli.options import with_options
from areopage.errors import UserError
from areopage.extensions import Command, imported, installed
from areopage.version import __version__

ONE_THREAD_OF_ALGEBRA = ("OPENBLAS_NUM_THREADS", "1")
"""numpy's linear algebra begins a thread for each core, which spins while it waits for work: it takes a tenth of a second of each
run, whose matrices are small. With one thread all digits are the same however many cores there are."""
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
T = TypeVar("T")


class _OutputClosed(Exception):
    """The reader of the output has closed it. Click and rich would end with 1, which says that something failed."""


@contextmanager
def _noting_closed_output() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise _OutputClosed from None
    except SystemExit as end:  # rich's
        if isinstance(end.__context__, BrokenPipeError):
            raise _OutputClosed from None
        raise


class LazyGroup(click.Group):
    """A group of commands, each named by module and function."""

    def __init__(
        self,
        name: str,
        help: str,
        groups: Mapping[str, "LazyGroup"] | None = None,
        commands: Mapping[str, tuple[str, str]] | None = None,
        **options: Any,
    ) -> None:
        """Args:
        groups: groups below this one, by name.
        commands: for each command `module:function` below `areopage.cli`, and one line of help.
        """
        super().__init__(name, help=help, no_args_is_help=True, **options)
        self.groups = dict(groups or {})
        self.places = {name: (f"areopage.cli.{place}", line) for name, (place, line) in (commands or {}).items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of groups, then of commands."""
        return [*self.groups, *self.places]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name in self.groups:
            return self.groups[cmd_name]
        if cmd_name not in self.places:
            return None
        command = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
        command.command(cls=FiniteCommand)(with_options(imported(self.places[cmd_name][0])))
        return typer.main.get_command(command)

    def register(self, words: list[str], command: Command) -> None:
        """Add a command or a group of an extension below this group."""
        name, *below = words
        if below:
            self.groups[name].register(below, command)
        elif command.place:
            self.places = _inserted(self.places, name, (command.place, command.help), command.after)
        else:
            self.groups = _inserted(self.groups, name, LazyGroup(name, command.help), command.after)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first argument names."""
        name = args[0]
        if name in self.groups or name in self.places or name.startswith("-"):
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches

        near = get_close_matches(name, self.list_commands(ctx), n=1)
        raise click.UsageError(f"No such command {name!r}.{f' Did you mean {near[0]}?' if near else ''}", ctx)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the options, of which some print a text."""
        with _noting_closed_output():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _noting_closed_output():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        rows = [(name, group.help or "") for name, group in self.groups.items()]
        rows += [(name, line) for name, (_, line) in self.places.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class DefaultGroup(LazyGroup):
    """A group that runs one of its commands where none is named."""

    def __init__(self, name: str, help: str, default: str, **options: Any) -> None:
        """Args:
        default: the name of that command.
        """
        super().__init__(name, help=help, **options)
        self.default, self.no_args_is_help = default, False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the command before its options."""
        if not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


class FiniteCommand(TyperCommand):
    """A command whose numbers are finite: bounds of an option let NaN pass."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read options and arguments."""
        left = super().parse_args(ctx, args)
        for parameter in self.params:
            value = ctx.params.get(parameter.name or "")
            if isinstance(value, float) and not math.isfinite(value):
                raise click.BadParameter(f"{value} is not a finite number.", ctx, parameter)
        return left


def _inserted(table: Mapping[str, T], name: str, value: T, after: str) -> dict[str, T]:
    entries = [*table.items()]
    entries.insert([*table].index(after) + 1 if after in table else len(entries), (name, value))
    return dict(entries)


BENCH = LazyGroup(
    "bench",
    "Benchmark a model before release: collect answers to a dataset, judge them, compute scores.",
    commands={
        "run": ("bench.commands:run", "Run a benchmark, or resume an interrupted run with the same options."),
        "resume": (
            "bench.run:resume",
            "Resume a run with the suite and dataset it began with, and retry calls that timed out or found no server.",
        ),
        "follow": ("bench.commands:follow", "Follow a run that workers carry out, and show its results when they are done."),
        "stop": ("bench.commands:stop", "Stop a run that workers carry out."),
        "plan": ("bench.plan:plan", "Plan a run before it is paid for."),
        "list": ("bench.run_list:list_runs", "List the runs of a ledger, newest first."),
        "show": ("bench.commands:show", "Show the report of a run in short; of runs in several languages the one verdict."),
        "batches": ("bench.commands:batches", "List the batches of a run as they were last seen, or cancel those that are out."),
        "reassess": ("bench.commands:reassess", "Judge the answers of a run, or of a file, with another panel."),
        "rescore": ("scores:rescore_run", "Recompute the scores of a run from the ledger without calling a model."),
        "export": ("scores:export_run", "Export a run: every judgment, its failures for CI, or all of it for another tool."),
        "report": ("bench.review:report", "Write the report, results.json and the other files of a run again."),
        "review": ("bench.review:review", "Queue answers of a run for review, or show how far people agree with its judges."),
        "sign": ("bench.review:sign", "Sign a run: approve or reject it, with a name, a date and a hash of what is signed."),
    },
)
CRITERIA = LazyGroup(
    "criteria",
    "The criteria of a suite.",
    commands={
        "list": ("suites.commands:list_criteria", "List criteria and presets."),
        "show": ("suites.commands:show_criterion", "Show the prompt that a judge receives for a criterion."),
        "validate": ("suites.commands:validate_criteria", "List every fault in the criteria and weights of a suite."),
        "new": ("suites.commands:new_criterion", "Add a criterion to your suite."),
    },
)
SUITES = LazyGroup(
    "suites",
    "Suites: folders with configuration, criteria, personas and data.",
    commands={
        "list": ("suites.commands:list_suites", "List the bundled suites."),
        "show": ("suites.commands:show_suite", "Show the contents of a suite."),
        "validate": ("suites.commands:validate_suite", "List every fault in a suite."),
        "try": ("suites.try_suite:try_suite", "Run a suite on a few rows and show what each judge says; nothing is stored."),
        "new": ("suites.commands:new_suite", "Create a suite: a copy of another one, or with --blank one of your own criteria."),
    },
)
CASES = LazyGroup(
    "cases",
    "Cases: datasets of prompts, responses and documents.",
    commands={"convert": ("cases:convert", "Read a dataset and write its cases in another format.")},
)
MODELS = LazyGroup(
    "models",
    "Language models and judges.",
    commands={
        "list": ("models:list_models", "List the providers, or the models of a provider's server."),
        "check": ("models:check", "Check that a model or a judge is ready."),
        "pull": ("models:pull", "Download the embedded model into the user's cache."),
    },
)
ALERTS = LazyGroup(
    "alerts",
    "Alerts: list them, accept a new level, test their delivery.",
    commands={
        "list": ("monitor.commands:list_alerts", "List alerts and their delivery, newest first, those of single answers last."),
        "accept": ("monitor.commands:accept_alert", "Accept the level since a fall of quality: close its incident."),
        "test": ("monitor.commands:test_alerts", "Send a test message to every address in `alerts.urls`."),
    },
)
GOLDEN = LazyGroup(
    "golden",
    "Golden questions: fixed questions sent to the live bot and compared from round to round.",
    commands={
        "run": (
            "monitor.commands:run_golden",
            "Send every golden question to the bot now; the running worker judges the answers.",
        ),
        "list": ("monitor.commands:list_rounds", "List the newest rounds with their verdicts."),
    },
)
MONITOR = LazyGroup(
    "monitor",
    "Monitor answers in production: judge, store, alert, report.",
    groups={"alerts": ALERTS, "golden": GOLDEN},
    commands={
        "worker": ("worker:monitor_worker", "Evaluate submitted answers until stopped."),
        "submit": ("monitor.commands:submit", "Submit answers from files for evaluation."),
        "status": ("monitor.commands:status", "Show the queue and the active workers."),
        "retry": (
            "monitor.commands:retry",
            "Retry answers whose evaluation failed: after the last attempt, or between two attempts.",
        ),
        "report": ("monitor.report:report", "Write a quality report on the answers of a period."),
        "export": ("monitor.report:export", "Export answers with their scores to a file."),
        "rescore": ("scores:rescore_monitor", "Recompute scores with other weights, rules or judges, without model calls."),
        "erase": ("monitor.report:erase", "Erase the texts of answers and the comments of judges and reviewers permanently."),
    },
)
KEYS = LazyGroup(
    "keys",
    "API keys of the server and their roles.",
    commands={
        "create": ("server:create_key", "Create a key and show it once; the ledger stores only its hash."),
        "list": ("server:list_keys", "List keys: id, role, day of creation, state, name and collections."),
        "revoke": ("server:revoke_key", "Revoke a key; servers notice within seconds."),
    },
)
DATASET = LazyGroup(
    "dataset",
    "Datasets of answers that did not pass the gate.",
    commands={"export": ("gate.data:export", "Export answers that did not pass with their documents, reasons and labels.")},
)
GATE = LazyGroup(
    "gate",
    "The quality gate: deliver or hold each answer, with reasons.",
    groups={"dataset": DATASET},
    commands={
        "check": ("gate.check:check", "Decide on answers: verdict, reasons, sentences."),
        "report": ("gate.report:report", "Write a report on the gate's decisions and their reasons."),
        "tune": ("gate.tune:tune", "Choose thresholds that keep a stated risk at a stated confidence."),
        "replay": ("gate.report:replay", "Decide again on recorded answers with other rules."),
        "import": ("gate.data:import_logs", "Import the logs of an older system into the ledger."),
        "rescore": ("scores:rescore_gate", "Recompute the scores of the gate's judge, without model calls."),
    },
)
REVIEW = LazyGroup(
    "review",
    "Human review of answers: a queue and labels.",
    commands={
        "list": ("review:list_items", "List the answers that need a label; with --rater those without a label by this reviewer."),
        "show": ("review:show", "Show an answer for labelling."),
        "label": ("review:label", "Label an answer: scores, or whether its documents support it."),
        "undo": ("review:undo", "Undo the last label of a reviewer."),
        "disagreements": (
            "review_disagreements:disagreements",
            "List the answers on which reviewers disagree, with their labels.",
        ),
        "adjudicate": ("review_disagreements:adjudicate", "Adjudicate between reviewers who disagree on an answer."),
        "progress": (
            "review_disagreements:progress",
            "Tell how many answers are labelled, by whom, and on how many reviewers agree.",
        ),
        "fill": ("review:fill", "Queue answers for review."),
        "import": ("review:import_file", "Import labels from a table (CSV, XLSX, JSON Lines, Parquet)."),
    },
)
CALIBRATE = LazyGroup(
    "calibrate",
    "Calibrations: people's labels correct the scores of a jury.",
    commands={
        "plan": ("calibrate:plan", "Tell how many labels a stated precision of corrected scores takes."),
        "fit": ("calibrate:fit", "Fit a calibration to the labels of a run, store it, and show the run's scores."),
        "monitored": (
            "calibrate:monitored",
            "Fit a calibration to the labels of monitored answers, store it, and show their scores.",
        ),
        "list": ("calibrate:list_calibrations", "List the calibrations of a ledger, oldest first."),
        "show": ("calibrate:show", "Show what a calibration corrects, and what it rests on."),
    },
)
LEDGER = LazyGroup(
    "ledger",
    "The ledger: check, rebuild, compact, export, audit log.",
    commands={
        "check": ("ledger:check", "Compare every stored score and count with its recomputed value."),
        "rebuild": ("ledger:rebuild", "Recompute every stored score and count; no model is called."),
        "compact": ("ledger:compact", "Write a SQLite file anew, so that no unused space holds erased texts."),
        "export": ("ledger:export", "Write answers, evaluations, judgments, labels and decisions into a folder."),
        "audit": ("ledger:show_audit", "Show the audit log: who read, labelled, erased, exported or changed what, newest first."),
    },
)
DEMO = DefaultGroup(
    "demo",
    "Demonstrations that need no server and no key; without a name: tour.",
    default="tour",
    commands={
        "tour": ("demo_tour:tour", "Replay a benchmark of two versions, their comparison, a day in production and the gate."),
    },
)


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"areopage {__version__}")
        context.exit()


app = LazyGroup(
    "areopage",
    "Evaluate the answers of a language model: are they safe, correct and grounded?",
    groups={
        group.name or "": group
        for group in (BENCH, CASES, CRITERIA, SUITES, MODELS, MONITOR, KEYS, GATE, REVIEW, CALIBRATE, LEDGER, DEMO)
    },
    commands={
        "verify": ("ledger:verify", "Verify the hash chains of the ledger, and recompute every stored score and count."),
        "agreement": ("agreement:agreement", "Compare judges with human labels: correlation, weighted kappa, bias."),
        "serve": ("server:serve", "Serve the API and the pages and evaluate submitted answers."),
        "worker": ("worker:worker", "Carry out benchmark runs, evaluate submitted answers and run scheduled jobs until stopped."),
        "schema": ("schema:schema", "Print the JSON schema of a file that areopage reads or writes."),
        "init": ("server:init", "Write an areopage.yml with every key, its default and its meaning."),
    },
    params=[
        click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Print the version."
        )
    ],
)

for extension in installed():
    for words, command in extension.commands.items():
        app.register(words.split(), command)


def main() -> None:
    """Run the command; report a user error on one line with exit code 2.

    What it writes holds answers, scores and secrets: new files and folders are for their owner alone.
    """
    os.umask(0o077)
    os.environ.setdefault(*ONE_THREAD_OF_ALGEBRA)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors="backslashreplace")  # a mark in place of what the terminal does not have
    try:
        _run()
    except (_OutputClosed, BrokenPipeError):
        sys.stdout = None  # the interpreter would report it again while flushing
        sys.exit(INTERRUPTED)


def _run() -> NoReturn:
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as usage:
        usage.show()
        sys.exit(USER_ERROR)
    except click.ClickException as usage:
        _complain(f"{usage.format_message()} (--help shows all options)")
    except UserError as fault:
        _complain(str(fault))
    except (click.Abort, KeyboardInterrupt):
        click.echo("areopage: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        raise
    except UnicodeEncodeError:
        _complain("a file name contains bytes that are not UTF-8: rename the file")
    except OSError as fault:
        if fault.filename:
            _complain(f"{fault.filename}: {fault.strerror}")
        _complain(f"the output cannot be written: {fault.strerror}" if fault.errno in _NO_SPACE else str(fault))
    sys.exit(code if isinstance(code, int) else 0)


def _complain(message: str) -> NoReturn:
    click.echo(f"areopage: {' '.join(message.split())}", err=True)
    sys.exit(USER_ERROR)
