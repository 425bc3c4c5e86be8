"""Models and judges are checked before the first call of a run."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from areopage.errors import ModelMissing
from areopage.jury.opening import check_judge, check_model
from areopage.models.reference import ModelReference
from areopage.models.settings import Endpoint, ModelSettings
from servers.fake_llm import FakeServer, Faults

Check = Callable[[ModelReference, ModelSettings], Coroutine[Any, Any, object]]


@pytest.mark.parametrize("check", [check_judge, check_model])
def test_the_check_of_a_model_that_is_not_listed_waits_where_the_server_takes_no_more_calls(check: Check) -> None:
    with FakeServer(faults=Faults(storm=2, retry_after="0.1")) as server:
        endpoint = Endpoint(provider="openai", base_url=f"http://127.0.0.1:{server.port}/v1")
        with pytest.raises(ModelMissing):  # the answer of the third call
            asyncio.run(check(ModelReference("openai", "unlisted", "own"), ModelSettings(endpoints={"own": endpoint})))
        assert len(server.calls) == 3
