"""A worker's benchmark runs: finds open runs in the ledger, and starts a process for each share that this worker can do.

Each share has a process of its own: a fault in a model's library ends that process alone, and a run's memory ends with it. A
process ends by itself when its worker dies.
"""

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from msgspec import Struct

from areopage.app.config import CONFIG_VARIABLE, LEDGER_VARIABLE, AppConfig
from areopage.bench import TARGET_PHASE, RunSpec, ServerShare, WorkEnd, at_worker, end_run, shares_of, strangers, takes
from areopage.errors import AreopageError, StorageError
from areopage.ledger import FleetNote, FleetPhase, Ledger, LedgerOutage
from areopage.work import WorkerId

LOG = logging.getLogger(__name__)
END_CODES: Mapping[WorkEnd, int] = {"done": 0, "again": 3, "left": 4, "stopped": 130}
_ENDS = {code: end for end, code in END_CODES.items()}
_PAUSES = {"done": 2.0, "stopped": 2.0, "again": 15.0, "left": 60.0}
_LONGEST_PAUSE = 120.0
_KILL_AFTER = 10.0

Key = tuple[str, str]
"""The id of a run, and the key of a share; "" for all of the run."""


class _OpenRun(Struct, frozen=True, kw_only=True):
    """An open run: as this worker reaches its models, and its shares."""

    spec: RunSpec
    shares: tuple[ServerShare, ...]


class _ShareProcess(Struct, kw_only=True):
    process: "subprocess.Popen[bytes]"
    servers: tuple[str, ...]


class RunWorker:
    """Does shares of open runs: of each server one at a time, the oldest run first. Its methods are called in one thread."""

    def __init__(
        self,
        ledger: Ledger,
        config: AppConfig,
        out: Path,
        *,
        endpoints: Sequence[str] = (),
        run_id: str = "",
        grace: float = 30.0,
    ) -> None:
        """Prepare; `step` begins the work.

        Args:
            out: the folder of runs on this computer.
            endpoints: the only servers that are called; see `takes`. None: all that can be reached.
            run_id: the only run that is worked on; "" for all.
            grace: seconds that open calls may take at the end.
        """
        self._ledger, self._config, self._out, self._grace = ledger, config, out, grace
        self._endpoints, self._only = tuple(endpoints), run_id
        self._fleet = ledger.fleet
        self._id = WorkerId(out / ".workers", "fleet")
        self._runs: dict[str, _OpenRun | None] = {}
        self._running: dict[Key, _ShareProcess] = {}
        self._not_before: dict[Key, float] = {}
        self._deaths: dict[Key, int] = {}
        self._outage, self._look_at, self._is_closed = LedgerOutage(LOG.warning), 0.0, False

    @property
    def name(self) -> str:
        """This worker, as its notes name it."""
        return self._id.name

    def step(self) -> None:
        """Note which processes have ended, and begin the shares that can be done now; a ledger that is gone is waited for."""
        self._reap()
        if time.monotonic() < self._look_at:
            return
        try:
            self._look()
        except StorageError as fault:
            self._look_at = time.monotonic() + self._outage.met(fault)
        else:
            self._outage.over()

    def _look(self) -> None:
        open_runs = [run.run_id for run in self._fleet.open_runs() if self._only in ("", run.run_id)]
        self._is_closed = not open_runs
        self._runs = {id: self._runs[id] if id in self._runs else self._opened(id) for id in open_runs}
        for run_id, run in self._runs.items():
            if run is None:
                continue
            phases = self._fleet.phases(run_id)
            if phases and all(phase.ended_at is not None for phase in phases):
                end_run(self._ledger, self._ledger.run(run_id))  # its last worker died before
                continue
            for share in run.shares:
                if self._is_due(run_id, share, phases) and self._may_do(run_id, run.spec, share):
                    self._begin(run_id, share)

    @property
    def is_over(self) -> bool:
        """Whether no run was open at the last look, and no process of this worker works on one."""
        return self._is_closed and not self._running

    def stop(self) -> None:
        """Ask the processes to end; open calls may take the grace."""
        for child in self._running.values():
            _signal(child.process, signal.SIGTERM)

    def hurry(self) -> None:
        """End open calls at once."""
        self.stop()

    def close(self) -> None:
        """Wait for the processes; those that do not end in time are killed."""
        until = time.monotonic() + self._grace + _KILL_AFTER
        for child in self._running.values():
            try:
                child.process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                _signal(child.process, signal.SIGKILL)
                child.process.wait()
        self._running.clear()
        self._id.release()

    # --- what is done here

    def _opened(self, run_id: str) -> _OpenRun | None:
        try:
            stored = RunSpec.of(self._ledger.run(run_id))
            return _OpenRun(spec=at_worker(stored, self._config.shared), shares=shares_of(stored))
        except AreopageError as fault:
            self._leave(run_id, "", str(fault))
            return None

    def _is_due(self, run_id: str, share: ServerShare, phases: Sequence[FleetPhase]) -> bool:
        """Whether a share has work now, and this worker none at the same server."""
        if time.monotonic() < self._not_before.get((run_id, share.key), 0.0):
            return False
        if any(not {*child.servers}.isdisjoint(share.servers) for child in self._running.values()):
            return False
        if all(phase.ended_at is not None for phase in phases if share.phases is None or phase.name in share.phases):
            return False
        waits = any(phase.name == TARGET_PHASE and phase.ended_at is None for phase in phases) and not share.part.answers
        return not waits or not self._fleet.answers_are_due(run_id)

    def _may_do(self, run_id: str, spec: RunSpec, share: ServerShare) -> bool:
        if not takes(share.models, self._endpoints):
            return self._leave(run_id, share.name, f"left to others: this worker is limited to {', '.join(self._endpoints)}")
        if refused := strangers(share.models, spec.settings):
            return self._leave(run_id, share.name, f"left to others: {refused}")
        return True

    def _leave(self, run_id: str, server: str, text: str) -> bool:
        """Say once why a share is left to other workers; returns False."""
        note = FleetNote(worker=self.name, server=server, text=" ".join(text.split()), at=datetime.now(UTC))
        if self._fleet.note(run_id, note):
            LOG.warning("run %s, %s: %s", run_id, server or "all of it", note.text)
        return False

    # --- processes

    def _begin(self, run_id: str, share: ServerShare) -> None:
        command = [sys.executable, "-m", "areopage", "worker", "--run", run_id, "--share", share.key, "--as", self.name]
        command += ["--out", str(self._out), "--grace", f"{self._grace:g}"]
        # through the environment: a ledger's address may hold a password
        environment = {**os.environ, LEDGER_VARIABLE: self._config.ledger}
        if self._config.document is not None:
            environment[CONFIG_VARIABLE] = str(self._config.document.path)
        process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE)  # noqa: S603 - this program itself
        self._running[run_id, share.key] = _ShareProcess(process=process, servers=share.servers)

    def _reap(self) -> None:
        for key, child in list(self._running.items()):
            code = child.process.poll()
            if code is None:
                continue
            del self._running[key]
            if child.process.stdin is not None:
                child.process.stdin.close()
            end = _ENDS.get(code)
            if end is None:
                self._deaths[key] = self._deaths.get(key, 0) + 1
                pause = min(_LONGEST_PAUSE, 2.0 ** self._deaths[key])
                LOG.warning("the process for %s of run %s ended with %d: another begins in %g s", key[1], key[0], code, pause)
            else:
                self._deaths.pop(key, None)
                pause = _PAUSES[cast(str, end)]
            self._not_before[key] = time.monotonic() + pause


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(number)
