"""A model as the worker: asked without a tool, read like any other, ended when it is cancelled; no model is reached."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from pydantic_ai import models
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from memtui.errors import MemtuiError
from memtui.features.workers.command import WorkerPlace
from memtui.features.workers.model import ask_model
from memtui.features.workers.reply import ReplyLimits, read_reply

PLACE = WorkerPlace("", {}, lambda: False)
REPLY = {"summary": "s", "operations": [{"op": "describe", "targets": ["m1"], "description": "d"}]}


@pytest.fixture(autouse=True)
def unreached(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No model of anybody is asked."""
    with monkeypatch.context() as patch:
        patch.setattr(models, "ALLOW_MODEL_REQUESTS", False)
        yield


def test_a_model_gets_the_prompt_and_no_tool() -> None:
    told = []

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told.append((info.instructions, info.function_tools, str(messages[0].parts[0].content)))  # type: ignore[union-attr]
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, REPLY)])

    answer = ask_model(FunctionModel(respond), "You tidy.", "Words", PLACE)
    assert told == [("You tidy.", [], "Words")]
    found = read_reply(answer, ReplyLimits(shown={"m1": False}))
    assert found.operations[0].description == "d"


def test_a_model_that_only_talks_is_asked_twice_at_most() -> None:
    asked = []

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(len(messages))
        return ModelResponse(parts=[TextPart("I would not change anything.")])

    with pytest.raises(MemtuiError, match="The model failed") as failed:
        ask_model(FunctionModel(respond), "s", "t", PLACE)
    assert (failed.value.code, len(asked)) == ("E_WORKER", 2)


@pytest.mark.parametrize("how", ["cancelled", "no answer within 0.2 seconds"])
def test_a_slow_model_is_ended(how: str) -> None:
    begun, ended = list[bool](), list[bool]()

    async def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        begun.append(True)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)
        return ModelResponse(parts=[TextPart("never")])

    place = PLACE._replace(cancelled=lambda: how == "cancelled" and bool(begun), seconds=0.2 if "within" in how else 60)
    with pytest.raises(MemtuiError, match=how):
        ask_model(FunctionModel(respond), "s", "t", place)
    assert ended


@pytest.mark.parametrize(("model", "why"), [("", "is empty"), ("nowhere:none", "Unknown"), ("openai:gpt-5", "failed")])
def test_a_model_that_cannot_be_asked_is_named(model: str, why: str) -> None:
    with pytest.raises(MemtuiError, match=why) as failed:
        ask_model(model, "s", json.dumps({}), PLACE)
    assert failed.value.code == "E_WORKER"
