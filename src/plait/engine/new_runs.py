"""The record of a run that is to be made."""

from __future__ import annotations

from plait.kernel.ids import Millis, run_key, shard_of
from plait.kernel.kernel import Kernel
from plait.kernel.store import RunRow


def new_row(
    kernel: Kernel,
    namespace: str,
    id: str | None,
    dialect: str,
    definition: str,
    version: str | None,
    labels: dict[str, str],
    deadline: Millis | None = None,
) -> RunRow:
    now = kernel.clock.now()
    run_id = run_key(namespace, id if id is not None else kernel.ids.run_id(now), new=True)
    return RunRow(
        id=run_id,
        namespace=namespace,
        dialect=dialect,
        definition=definition,
        version=version,
        shard=shard_of(run_id),
        labels=labels,
        created_at=now,
        deadline=deadline,
    )
