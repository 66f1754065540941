"""The addresses of the clusters, from an engine's argument or the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from plait.kernel.errors import InvalidInput

from .names import CLUSTERS, ClusterName

VARIABLES: Final[Mapping[ClusterName, str]] = {
    "dask": "PLAIT_DASK",
    "kubernetes": "PLAIT_KUBERNETES",
    "ray": "PLAIT_RAY",
}
_EXAMPLES: Final[Mapping[ClusterName, str]] = {
    "dask": "tcp://scheduler:8786",
    "kubernetes": "https://kubernetes.default.svc",
    "ray": "ray://head:10001",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    addresses: Mapping[ClusterName, str]
    image: str = ""
    """The image of the pods of Kubernetes jobs."""
    namespace: str = "default"
    """The Kubernetes namespace."""
    token_file: str = ""
    ca_file: str = ""

    def address(self, on: ClusterName) -> str:
        found = self.addresses.get(on, "")
        if not found:
            raise InvalidInput(
                "clusters.not_configured",
                f"a step runs on {on}, and this process was not told where that is",
                fix=f"set {VARIABLES[on]}={_EXAMPLES[on]}",
            )
        return found


_POD: Final = "/var/run/secrets/kubernetes.io/serviceaccount"


def cluster_settings(
    given: Mapping[ClusterName, str] | None = None, environment: Mapping[str, str] = os.environ
) -> ClusterSettings:
    """Reads the settings; `given` takes precedence over the environment."""
    found: dict[ClusterName, str] = {on: (given or {}).get(on) or environment.get(VARIABLES[on], "") for on in CLUSTERS}
    return ClusterSettings(
        addresses=found,
        image=environment.get("PLAIT_KUBERNETES_IMAGE", ""),
        namespace=environment.get("PLAIT_KUBERNETES_NAMESPACE", "default"),
        token_file=environment.get("PLAIT_KUBERNETES_TOKEN_FILE", f"{_POD}/token"),
        ca_file=environment.get("PLAIT_KUBERNETES_CA_FILE", f"{_POD}/ca.crt"),
    )
