"""The gate of a configuration, with its judge."""

import os
import time

from areopage.app.config import AppConfig, find_config
from areopage.checking import Checker, SentenceJudge, generation_options, open_sentence_judge
from areopage.gate import Gate
from areopage.ledger import Ledger


def open_gate(config: AppConfig) -> Gate:
    """The gate with the configuration's rules; each signal tells how long it took."""
    return Gate(config.gate, clock=time.perf_counter)


def open_judge(config: AppConfig, ledger: Ledger | None) -> SentenceJudge | None:
    """The judge of the grey band, which keeps its judgments in the ledger; None where none is configured.

    Raises:
        ConfigError: its reference is wrong.
        MissingExtra: its model needs a package that is not installed.
    """
    return open_sentence_judge(config.rag, ledger, os.environ, judge_window(config))


def judge_window(config: AppConfig) -> int:
    """The context of the judge of the grey band, in tokens: the generator's."""
    section = config.rag.section
    window: int = generation_options(section.generation, section.retrieval.top_k)["num_ctx"]
    return window


def open_checker(config: AppConfig | None = None, *, ledger: Ledger | None = None, judge: bool = True) -> Checker:
    """The gate with all that may settle its decisions; `with open_checker() as checker` closes it.

    Args:
        config: None: as `find_config` finds it.
        ledger: holds people's labels, and keeps the judge's judgments; None: no label counts, and nothing is kept.
        judge: ask the judge of `rag.grey_band` where the gate needs one.

    Raises:
        ConfigError, MissingExtra: as for `open_judge`.
    """
    settings = config or find_config()
    return Checker(open_gate(settings), ledger=ledger, judge=open_judge(settings, ledger) if judge else None)
