"""The manifests in deploy/kubernetes/ fit each other and the program. Kubernetes itself is not run here."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from plait.cli.main import load
from plait.clusters.settings import VARIABLES
from tests.observe.test_deploy import METRIC, samples

ROOT = Path(__file__).parents[2]
MANIFESTS = ROOT / "deploy/kubernetes"
RESOURCES: list[str] = yaml.safe_load((MANIFESTS / "kustomization.yaml").read_text())["resources"]
OBJECTS = [found for name in RESOURCES for found in yaml.safe_load_all((MANIFESTS / name).read_text())]


def named(kind: str, name: str) -> dict[str, Any]:
    [found] = [each for each in OBJECTS if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return found


def pod_specs() -> Iterator[Any]:
    for each in OBJECTS:
        spec = each.get("spec", {})
        template = spec.get("template") or spec.get("jobTemplate", {}).get("spec", {}).get("template")
        if template is not None:
            yield pytest.param(template, id=each["metadata"]["name"])


def variables_of_the_program() -> set[str]:
    """Those that the source or the image's entry point reads."""
    sources = [*(ROOT / "src/plait").rglob("*.py"), ROOT / "deploy/entrypoint.sh"]
    text = "\n".join(source.read_text() for source in sources)
    found = set(re.findall(r"\bPLAIT_[A-Z_]+\b", text))
    [secrets] = re.findall(r"^for name in (.*); do$", text, re.MULTILINE)
    return found | {f"{name}_FILE" for name in secrets.split()} | set(VARIABLES.values())


def test_every_manifest_is_listed_and_every_object_is_one_of_its_kind() -> None:
    files = {file.name for file in MANIFESTS.glob("*.yaml")}
    assert files - set(RESOURCES) == {"kustomization.yaml", "metrics-adapter.yaml"}
    ids = [(each["apiVersion"], each["kind"], each["metadata"]["name"]) for each in OBJECTS]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("template", list(pod_specs()))
def test_the_command_of_a_pod_is_one_that_plait_knows(template: dict[str, Any]) -> None:
    [container] = template["spec"]["containers"]
    name, *options = container["args"]
    context = load(name).make_context(name, options)
    assert context.params["drain"] < template["spec"]["terminationGracePeriodSeconds"]


@pytest.mark.parametrize("template", list(pod_specs()))
def test_the_environment_of_a_pod_has_only_variables_that_plait_reads(template: dict[str, Any]) -> None:
    [container] = template["spec"]["containers"]
    given = {each["name"] for each in container.get("env", ())}
    for source in container["envFrom"]:
        given |= named("ConfigMap", source["configMapRef"]["name"])["data"].keys()
    assert given <= variables_of_the_program()
    secrets = [mount["mountPath"] for mount in container["volumeMounts"] if mount["name"] == "secrets"]
    for name, value in named("ConfigMap", "plait")["data"].items():
        assert not re.search("PASSWORD|SECRET", name) or (name.endswith("_FILE") and value.startswith(secrets[0]))


@pytest.mark.parametrize("template", list(pod_specs()))
def test_a_pod_is_not_root_and_is_bounded(template: dict[str, Any]) -> None:
    [container] = template["spec"]["containers"]
    assert template["spec"]["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["resources"]["limits"]["memory"]
    volumes = {volume["name"] for volume in template["spec"]["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} <= volumes


def test_selectors_find_the_pods_that_they_mean() -> None:
    engine = named("Deployment", "plait-engine")["spec"]
    labels = engine["template"]["metadata"]["labels"]
    assert engine["selector"]["matchLabels"].items() <= labels.items()
    assert named("Service", "plait")["spec"]["selector"].items() <= labels.items()
    assert named("PodDisruptionBudget", "plait-engine")["spec"]["selector"]["matchLabels"].items() <= labels.items()
    worker = named("Deployment", "plait-worker-heavy")["spec"]
    assert worker["selector"]["matchLabels"].items() <= worker["template"]["metadata"]["labels"].items()
    account = engine["template"]["spec"]["serviceAccountName"]
    assert named("RoleBinding", "plait-steps")["subjects"] == [{"kind": "ServiceAccount", "name": account}]


async def test_what_is_scaled_is_there_and_is_scaled_by_metrics_that_engines_give() -> None:
    known = await samples()
    adapter = (MANIFESTS / "metrics-adapter.yaml").read_text()
    scalers = [each["spec"] for each in OBJECTS if each["kind"] == "HorizontalPodAutoscaler"]
    assert len(scalers) == 2
    for scaler in scalers:
        assert named(scaler["scaleTargetRef"]["kind"], scaler["scaleTargetRef"]["name"])
        for metric in scaler["metrics"]:
            name = metric[metric["type"].lower()]["metric"]["name"]
            assert name in known
            assert name in METRIC.findall(adapter)


def test_the_worker_scales_by_the_queue_that_it_serves() -> None:
    [container] = named("Deployment", "plait-worker-heavy")["spec"]["template"]["spec"]["containers"]
    scaler = named("HorizontalPodAutoscaler", "plait-worker-heavy")["spec"]
    [metric] = scaler["metrics"]
    queue = metric["external"]["metric"]["selector"]["matchLabels"]["queue"]
    assert container["args"][container["args"].index("--queue") + 1] == queue
    assert (
        container["args"][container["args"].index("--concurrency") + 1] == metric["external"]["target"]["averageValue"]
    )


def test_an_engine_may_do_what_the_executor_of_jobs_asks_for() -> None:
    rules = {name: set(rule["verbs"]) for rule in named("Role", "plait-steps")["rules"] for name in rule["resources"]}
    assert rules == {
        "jobs": {"create", "get", "delete"},
        "pods": {"get", "list", "watch"},
        "pods/log": {"get", "list", "watch"},
    }
