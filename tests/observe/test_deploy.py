"""The files in deploy/ fit the program. Docker itself is not run here."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from plait import Engine
from plait.cli.main import load
from plait.observe.metrics import Metrics
from tests.clusters.work import by_queue
from tests.engine.places import soon
from tests.observe.flows import echo

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
METRIC = re.compile(r"\b(?:plait|process|workflow)_[a-z_]+")
OF_PROMETHEUS = {"instance", "job", "le"}


def read(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text())


def alerts() -> list[dict[str, Any]]:
    return [rule for group in read("prometheus/alerts.yml")["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    dashboard = json.loads((DEPLOY / "grafana/dashboards/plait.json").read_text())
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


QUERIES = [
    *(pytest.param(rule["expr"], id=rule["alert"]) for rule in alerts()),
    *(pytest.param(target["expr"], id=panel["title"]) for panel in panels() for target in panel["targets"]),
]


async def samples() -> dict[str, set[str]]:
    """Every metric that an engine gives, with its labels."""
    metrics = Metrics()
    async with Engine("memory:", definitions=[echo, by_queue], observers=[metrics]) as engine:
        await (await engine.start(echo, 1)).result()
        await engine.start(by_queue)
        await soon(engine.queues.unclaimed)
        metrics.http.observe("GET /health", 200, 0.001)
        text = (await metrics.render(engine)).decode()
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels = re.fullmatch(r"([a-z_]+)(?:\{(.*)\})? \S+", line).groups()  # type: ignore[union-attr]
            found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels or ""))
    return found


@pytest.mark.parametrize("query", QUERIES)
async def test_a_query_names_metrics_and_labels_that_there_are(query: str):
    known = await samples()
    named = METRIC.findall(query)
    assert named or "up{" in query
    assert set(named) - set(known) == set()
    labels = set(re.findall(r"[{,]\s*(\w+)\s*[=!]~?\"", query))
    labels |= {label.strip() for group in re.findall(r"by \(([^)]*)\)", query) for label in group.split(",")}
    assert labels - OF_PROMETHEUS - set().union(*(known[name] for name in named)) == set()


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_has_its_parentheses_and_counts_counters_by_rate(query: str):
    assert query.count("(") == query.count(")")
    assert query.count("{") == query.count("}")
    for name in METRIC.findall(query):
        if name.endswith(("_total", "_bucket", "_sum", "_count")):
            assert re.search(rf"(?:rate|increase)\({name}(?:\{{[^}}]*\}})?\[", query), name


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_an_alert_says_how_bad_it_is_and_what_to_do(rule: dict[str, Any]):
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert rule["annotations"]["summary"]
    assert rule["annotations"]["description"]


def test_there_is_an_alert_for_everything_that_needs_one():
    assert {rule["alert"] for rule in alerts()} >= {
        "PlaitDown",
        "PlaitShardsWithoutOwner",
        "PlaitCommitsSlow",
        "PlaitDeadLettersGrow",
        "PlaitRunsBlocked",
        "PlaitLoopLag",
        "PlaitLeaseLost",
        "PlaitHttpErrors",
        "WorkflowStalled",
        "DLQSurge",
        "CounterDivergence",
    }


def test_no_two_panels_lie_on_each_other():
    taken: set[tuple[int, int]] = set()
    for panel in json.loads((DEPLOY / "grafana/dashboards/plait.json").read_text())["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert place["x"] + place["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells


# -- commands --------------------------------------------------------------------------------------------------------


def compose_services() -> dict[str, dict[str, Any]]:
    return read("compose.yaml")["services"]


def dockerfile() -> list[tuple[str, str]]:
    """Its instructions, with their arguments."""
    text = re.sub(r"\\\n", " ", (DEPLOY / "Dockerfile").read_text())
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines)]


def of(instruction: str) -> list[str]:
    return [rest for name, rest in dockerfile() if name == instruction]


def commands() -> Iterator[Any]:
    for name, service in compose_services().items():
        if service["image"] == "plait":
            given = [re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", word) for word in service["command"]]
            yield pytest.param(given, id=f"compose: {name}")
    [given] = of("CMD")
    yield pytest.param(json.loads(given), id="Dockerfile")
    [started] = re.findall(r"^ExecStart=\S+/plait (.*)$", (DEPLOY / "plait.service").read_text(), re.MULTILINE)
    yield pytest.param(started.split(), id="systemd")


@pytest.mark.parametrize("command", list(commands()))
def test_a_command_is_one_that_plait_knows(command: list[str]):
    name, *options = command
    context = load(name).make_context(name, options)
    assert context.params["host"] in ("0.0.0.0", "127.0.0.1")


def test_two_engines_share_a_database_and_both_are_scraped():
    engines = {name for name, service in compose_services().items() if service["image"] == "plait"}
    assert len(engines) == 2
    scraped = {target for job in read("prometheus/prometheus.yml")["scrape_configs"] for target in _targets(job)}
    assert {f"{name}:8080" for name in engines} <= scraped


def _targets(job: dict[str, Any]) -> list[str]:
    return [target for group in job["static_configs"] for target in group["targets"]]


def test_every_service_is_checked_and_bounded_and_published_on_this_machine_only():
    for name, service in compose_services().items():
        assert service["healthcheck"]["test"], name
        assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory"}, name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name


def test_no_secret_is_written_into_the_compose_file():
    given = read("compose.yaml")
    for service in given["services"].values():
        assert set(service.get("secrets", [])) <= set(given["secrets"])
        for name, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET", name):
                assert name.endswith("_FILE")
                assert str(value).removeprefix("/run/secrets/") in service["secrets"]
    assert (DEPLOY / "secrets/.gitignore").read_text().splitlines()[-2:] == ["*", "!.gitignore"]


def test_every_file_that_is_mounted_or_copied_is_there():
    for service in compose_services().values():
        for volume in service.get("volumes", []):
            if volume.startswith("./"):
                assert (DEPLOY / volume.split(":")[0]).is_dir(), volume
    for copied in of("COPY"):
        if "--from=" not in copied:
            *sources, _ = [word for word in copied.split() if not word.startswith("--")]
            assert all((ROOT / source).exists() for source in sources), copied
    for kept in re.findall(r"^!(\S+)$", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.MULTILINE):
        assert (ROOT / kept).exists(), kept


def test_the_image_does_not_run_as_root_and_is_checked():
    instructions = [name for name, _ in dockerfile()]
    assert of("USER") == ["plait"]
    assert instructions.index("USER") < instructions.index("ENTRYPOINT")
    assert len(of("HEALTHCHECK")) == 1
    assert "/ready" in of("HEALTHCHECK")[0]


# -- secrets ---------------------------------------------------------------------------------------------------------


def entrypoint(environ: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    command = ["sh", str(DEPLOY / "entrypoint.sh"), "/usr/bin/env"]
    return subprocess.run(
        command, env={"PATH": "/usr/bin:/bin", **environ}, capture_output=True, text=True, timeout=30, check=False
    )


def test_a_secret_in_a_file_becomes_a_variable(tmp_path: Path):
    (tmp_path / "secret").write_text("p$(w) 'quoted' \"text\"\n")
    ran = entrypoint({"PGPASSWORD_FILE": str(tmp_path / "secret"), "PLAIT_DB": "memory:"})
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert "PGPASSWORD=p$(w) 'quoted' \"text\"" in lines
    assert "PLAIT_DB=memory:" in lines
    assert not any(line.startswith("PGPASSWORD_FILE") for line in lines)


def test_a_secret_that_is_not_there_stops_the_start(tmp_path: Path):
    ran = entrypoint({"PLAIT_SECRET_FILE": str(tmp_path / "missing")})
    assert ran.returncode == 78
    assert "PLAIT_SECRET_FILE" in ran.stderr
