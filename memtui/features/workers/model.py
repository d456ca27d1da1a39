"""A worker that is a model, asked by pydantic-ai with the user's key and without tools.

It is apart so that only asking a model loads the library, which takes seconds.
"""

from __future__ import annotations

import asyncio
import json
from time import monotonic
from typing import TYPE_CHECKING

from memtui.errors import RefusedError, missing_extra
from memtui.features.workers.command import WorkerPlace
from memtui.features.workers.reply import SCHEMA
from memtui.mask import mask

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.models import Model

_STEP = 0.05


def ask_model(model: str | Model, system: str, text: str, place: WorkerPlace) -> str:
    """Ask a model, by pydantic-ai's name or as its object, and return JSON; raises `E_EXTRA` or `E_WORKER`."""
    try:
        from pydantic_ai import Agent, StructuredDict
        from pydantic_ai.exceptions import AgentRunError, UserError
    except ImportError:
        raise missing_extra("A model as the worker", "model") from None
    if not model:
        raise RefusedError("The setting lifecycle.model is empty.", code="E_WORKER", hint="Set it to a model's name.")
    try:
        agent = Agent(model, output_type=StructuredDict(SCHEMA, name="reply"), instructions=system)
        return asyncio.run(_answer(agent, text, place))
    except (AgentRunError, UserError, ImportError, OSError, ValueError) as error:
        what = mask(str(error)[:300]).text
        raise RefusedError(f"The model failed: {what}", code="E_WORKER", hint="Look at lifecycle.model.") from None


async def _answer(agent: Agent[None, dict[str, object]], text: str, place: WorkerPlace) -> str:
    from pydantic_ai import UsageLimits

    until = monotonic() + place.seconds
    run = asyncio.ensure_future(agent.run(text, usage_limits=UsageLimits(request_limit=2)))
    try:
        while not run.done():
            await asyncio.wait({run}, timeout=_STEP)
            if place.cancelled():
                raise RefusedError("The model was cancelled.", code="E_WORKER", hint="Run it again when you want to.")
            if monotonic() > until:
                raise RefusedError(
                    f"The model gave no answer within {place.seconds:g} seconds.", code="E_WORKER", hint="Run it again."
                )
        return json.dumps(run.result().output)
    finally:
        run.cancel()
