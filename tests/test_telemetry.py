"""What OpenTelemetry is told of the life cycle: how it went, and never a word of anybody's."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memtui.telemetry import tell as tell_of
from tests.cli.conftest import Cli
from tests.features.extract.conftest import Tell, allowed, cli, config, tell

__all__ = ["allowed", "cli", "config", "tell"]

CANARY = "Zanzibar"
SPANS, FIGURES = InMemorySpanExporter(), InMemoryMetricReader()


@pytest.fixture(scope="module", autouse=True)
def listening() -> None:
    """A process has one provider of each for as long as it lives."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(SPANS))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([FIGURES]))


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    SPANS.clear()
    yield
    SPANS.clear()


def told() -> dict[str, dict[str, object]]:
    return {span.name: dict(span.attributes or {}) for span in SPANS.get_finished_spans()}


def test_each_kind_tells_how_it_went_and_never_a_text(cli: Cli, tell: Tell, allowed: Path) -> None:
    allowed.write_text('telemetry = true\n[transcripts]\nread = "all"\n')
    tell("codex", CANARY, ("user", f"Remember that we deploy from {CANARY}."), ("user", f"My {CANARY} is blue."))
    assert cli("remember", f"The ferry to {CANARY} leaves at nine.", "--wait").status == 0
    assert cli("recall", CANARY, "ferry").lines
    assert cli("extract", "--since", "2020-01-01").lines
    assert cli("dream").status == 0
    assert cli("forget", CANARY, "--yes").status == 0
    spans = told()
    assert {name.rpartition(".")[2] for name in spans} == {"remember", "recall", "extract", "dream", "forget"}
    assert all(isinstance(fields.pop("duration_ms"), int) for fields in spans.values())
    recalled = spans["memtui.memory.recall"]
    assert recalled == {
        "query_length": len(f"{CANARY} ferry"), "docs_scanned": 1, "docs_selected": 1, "strategy": "heuristic"
    }  # fmt: skip
    extracted = spans["memtui.memory.extract"]
    assert extracted == {"trigger": "manual", "status": "completed", "patches_count": 1, "deduped_entries": 0}
    assert spans["memtui.memory.dream"]["status"] in ("noop", "updated")
    everything = [span.to_json() for span in SPANS.get_finished_spans()]
    figures = FIGURES.get_metrics_data()
    assert figures is not None
    everything.append(figures.to_json())
    assert "memtui.memory.recall.duration" in everything[-1]
    assert CANARY.lower() not in "".join(everything).lower()
    assert str(allowed.parent) not in "".join(everything)


def test_a_field_that_could_be_a_text_is_left_out() -> None:
    on = True
    fields = {"status": f"to {CANARY}", "strategy": "heuristic", "docs_scanned": 3, "address": "notes"}
    tell_of(on, "recall", (0, 1), fields)
    (span,) = SPANS.get_finished_spans()
    assert dict(span.attributes or {}).keys() == {"strategy", "docs_scanned", "duration_ms"}


def test_nothing_is_told_unless_it_was_switched_on(cli: Cli, allowed: Path) -> None:
    assert cli("remember", "The ferry leaves at nine.", "--wait").status == 0
    assert cli("recall", "ferry").lines
    assert told() == {}
    assert "off" in json.dumps(cli("status", "--json").json["tasks"])


def test_status_says_that_it_is_on(cli: Cli, allowed: Path) -> None:
    allowed.write_text("telemetry = true\n")
    block = cli("status", "--json").json["tasks"]
    assert isinstance(block, dict)
    assert block["telemetry"] == "on"
