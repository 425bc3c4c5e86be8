"""How a demo shows answers and decisions on the console."""

import shlex
import textwrap

import typer

from areopage.gate.records import Decision
from areopage.locales import Locale, one_line
from areopage.report.decisions import explain

WIDTH, LABEL = 110, 20  # characters


class Show:
    """Prints what happens: sentences of their own, and texts beside their labels."""

    def __init__(self, locale: Locale) -> None:
        self.locale = locale

    def blank(self) -> None:
        """An empty line."""
        typer.echo("")

    def say(self, key: str, **values: object) -> None:
        """A sentence of its own."""
        typer.echo(textwrap.fill(self.locale.say(key, **values), WIDTH, break_long_words=False, break_on_hyphens=False))

    def row(self, label: str, text: str) -> None:
        """A text beside its label ("": none), folded under itself."""
        lines = textwrap.wrap(text, WIDTH - LABEL, break_on_hyphens=False) or [""]
        for number, line in enumerate(lines):
            typer.echo(f"  {self.locale.say(label) if label and not number else '':<{LABEL}}{line}")

    def command(self, label: str, *parts: str) -> None:
        """A command to copy, on one line however long."""
        typer.echo(f"  {self.locale.say(label):<{LABEL}}{shlex.join(parts)}")

    def decision(self, decision: Decision) -> None:
        """Verdict, figures, reasons, and the sentences in doubt."""
        locale = self.locale
        seconds = sum(signal.seconds or 0.0 for signal in decision.signals)
        confidence = locale.number(decision.metrics.confidence)
        figures = locale.say("demo_figures", confidence=confidence, milliseconds=locale.number(1000 * seconds, 1))
        if decision.sentences and decision.p_unsupported is not None:
            figures = locale.say("demo_doubt", doubt=locale.probability(decision.p_unsupported), figures=figures)
        self.row("demo_verdict", f"{locale.messages['demo_verdicts'][decision.verdict]} · {figures}")
        for place, reason in enumerate(dict.fromkeys(explain(decision, locale.code))):
            self.row("" if place else "demo_reasons", reason)
        if decision.verdict == "human_review":
            self.doubtful(decision)

    def doubtful(self, decision: Decision) -> None:
        """The sentences that decisive reasons name, else the likeliest one."""
        locale = self.locale
        named = sorted({one.sentence for one in decision.reasons if one.decisive and one.sentence is not None})
        likeliest = sorted(range(len(decision.sentences)), key=lambda index: -(decision.sentences[index].p_unsupported or 0.0))
        for place, index in enumerate(named or likeliest[:1]):
            self.row("" if place else "demo_doubtful", locale.say("demo_sentence", text=one_line(decision.sentences[index].text)))
