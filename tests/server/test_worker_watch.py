"""A server whose worker ends by itself does not go on as if nothing were."""

from pathlib import Path

import pytest

from areopage.ledger.people.access import ApiKeys
from areopage.monitor.quality_judge import QualityJudge
from areopage.monitor.worker import MonitorWorker
from areopage.server.serve import Process, listener_at
from server.seeded import context_for


class Broken(MonitorWorker):
    """A worker that ends by a fault that nobody foresaw, soon after its start."""

    def start(self) -> None:
        self.looked = 0

    def stop(self, seconds: float = 0.0) -> None:
        raise RuntimeError("the queue is gone")

    @property
    def alive(self) -> bool:
        self.looked += 1
        return self.looked < 2


def test_a_server_ends_with_the_fault_that_ended_its_worker(tmp_path: Path) -> None:
    context = context_for(tmp_path)
    worker = Broken(context.ledger, context.config.monitor, QualityJudge.from_suite(judges=["rules:answer_quality"]))
    said: list[str] = []
    with listener_at("127.0.0.1", 0) as listener, pytest.raises(RuntimeError, match="the queue is gone"):
        Process(context, listener, worker, lambda: said.append("ready")).run()
    assert said == ["ready"]
    context.ledger.close()


def test_taking_the_last_key_back_does_not_open_the_door_to_all(tmp_path: Path) -> None:
    context = context_for(tmp_path)
    keys = ApiKeys(context.ledger)
    assert not keys.any()
    record, _ = keys.create("only", "admin")
    keys.revoke(record.id)
    assert keys.any()
    context.ledger.close()
