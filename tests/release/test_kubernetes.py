"""The manifests for Kubernetes: valid by Kubernetes' own schemas, restricted, and in step with image and
server.

No cluster runs them here. `kubernetes-validate` has the schemas; with `strict` it also rejects unknown
members.
"""

from __future__ import annotations

from typing import Any, Final

import kubernetes_validate
import pytest
import yaml

from tailrace.app.settings import ENVIRONMENT_PREFIX, Settings
from tests.support.dockerfile import ROOT, instructions_of

FOLDER: Final = ROOT / "docker" / "kubernetes"
OLDEST, NEWEST = "1.29", "1.37"
FILES: Final = ("server.yaml", "gateways.yaml")
LATER_SETTINGS: Final = {"store"}
"""Settings of a gateway."""


def manifests(file: str) -> dict[str, Any]:
    """The manifests of a file by kind."""
    return {each["kind"]: each for each in yaml.safe_load_all((FOLDER / file).read_text())}


def workload(file: str) -> dict[str, Any]:
    """The StatefulSet or the Deployment."""
    found: dict[str, Any] = next(
        each for kind, each in manifests(file).items() if kind in {"StatefulSet", "Deployment"}
    )
    return found


def pod(file: str) -> dict[str, Any]:
    found: dict[str, Any] = workload(file)["spec"]["template"]["spec"]
    return found


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("file", FILES)
def test_the_manifests_are_valid_without_unknown_members(file: str, version: str) -> None:
    for manifest in manifests(file).values():
        kubernetes_validate.validate(manifest, version, strict=True)


def test_a_wrong_manifest_is_found() -> None:
    wrong = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"portz": []}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, NEWEST, strict=True)


def test_the_kinds_that_are_needed_are_there() -> None:
    assert manifests("server.yaml").keys() == {"Service", "StatefulSet"}
    kinds = {"Service", "Deployment", "PodDisruptionBudget", "HorizontalPodAutoscaler"}
    assert manifests("gateways.yaml").keys() == kinds


@pytest.mark.parametrize("file", FILES)
def test_pods_run_as_the_images_user_with_no_more_than_they_need(file: str) -> None:
    spec = pod(file)
    (user,) = (each.plain for each in instructions_of(ROOT / "Dockerfile") if each.word == "USER")
    context = spec["securityContext"]
    assert f"{context['runAsUser']}:{context['runAsGroup']}" == user
    assert context["runAsNonRoot"] is True
    assert spec["automountServiceAccountToken"] is False
    (container,) = spec["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


@pytest.mark.parametrize("file", FILES)
def test_probes_ask_the_paths_of_the_server_on_a_port_that_it_opens(file: str) -> None:
    (container,) = pod(file)["containers"]
    paths = {
        name: container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "readiness", "liveness")
    }
    assert paths == {"startup": "/readyz", "readiness": "/readyz", "liveness": "/healthz"}
    assert container["ports"] == [{"name": "http", "containerPort": 8080}]


@pytest.mark.parametrize("file", FILES)
def test_containers_get_only_settings_that_the_server_knows(file: str) -> None:
    (container,) = pod(file)["containers"]
    names = {each["name"].removeprefix(ENVIRONMENT_PREFIX).lower() for each in container["env"]}
    assert names - LATER_SETTINGS <= Settings.model_fields.keys()


@pytest.mark.parametrize("file", FILES)
def test_a_pod_has_more_time_to_stop_than_the_server_takes(file: str) -> None:
    (container,) = pod(file)["containers"]
    grace_s = next(
        int(each["value"]) for each in container["env"] if each["name"].endswith("SHUTDOWN_GRACE_S")
    )
    assert pod(file)["terminationGracePeriodSeconds"] > grace_s


@pytest.mark.parametrize("file", FILES)
def test_every_volume_that_is_mounted_exists_and_all_selectors_select_the_pods(file: str) -> None:
    spec = workload(file)["spec"]
    labels = spec["template"]["metadata"]["labels"]
    (container,) = pod(file)["containers"]
    volumes = {each["name"] for each in pod(file)["volumes"]}
    volumes |= {each["metadata"]["name"] for each in spec.get("volumeClaimTemplates", ())}
    assert {each["name"] for each in container["volumeMounts"]} == volumes
    assert spec["selector"]["matchLabels"] == labels
    assert manifests(file)["Service"]["spec"]["selector"] == labels


def test_the_autoscaler_and_the_budget_are_for_the_gateways() -> None:
    found = manifests("gateways.yaml")
    name = found["Deployment"]["metadata"]["name"]
    scaler = found["HorizontalPodAutoscaler"]["spec"]
    assert scaler["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    assert "replicas" not in found["Deployment"]["spec"]
    budget = found["PodDisruptionBudget"]["spec"]
    assert budget["selector"] == found["Deployment"]["spec"]["selector"]
    assert scaler["minReplicas"] > budget["maxUnavailable"]
