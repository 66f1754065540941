"""Steps on Kubernetes, against an API server of ours that speaks its protocol; not yet tried on a real cluster."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import pytest
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from plait import Engine
from plait.clusters.pod import environment_of, told_by
from plait.errors import RunFailed
from plait.server.process import Server, listen
from tests.engine.places import InMemory, until

from . import work
from .kubernetes_api import KubernetesApi
from .starts import eventually, started

TOKEN = "secret-token"


def certificate(folder: Path) -> Path:
    """A self-signed one for 127.0.0.1, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kubernetes")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    file = folder / "server.pem"
    file.write_bytes(secret + made.public_bytes(pem))
    return file


@asynccontextmanager
async def api_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[KubernetesApi]:
    """And an environment that says where it is."""
    file = certificate(tmp_path)
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    api, sock = KubernetesApi(TOKEN), listen("127.0.0.1", 0)
    config = uvicorn.Config(api.app, ssl_certfile=file, lifespan="off", log_config=None, timeout_graceful_shutdown=1)
    server = Server(config)
    serving = asyncio.ensure_future(server.serve(sockets=[sock]))
    await until(lambda: server.started)
    monkeypatch.setenv("PLAIT_KUBERNETES", f"https://127.0.0.1:{sock.getsockname()[1]}")
    monkeypatch.setenv("PLAIT_KUBERNETES_IMAGE", "shop:1")
    monkeypatch.setenv("PLAIT_KUBERNETES_NAMESPACE", "steps")
    monkeypatch.setenv("PLAIT_KUBERNETES_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("PLAIT_KUBERNETES_CA_FILE", str(file))
    try:
        yield api
    finally:
        await api.close()
        server.should_exit = True
        await serving


async def test_a_step_on_kubernetes_is_like_any_other_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with api_server(tmp_path, monkeypatch) as api, Engine("memory:", definitions=[work.tour]) as engine:
        run = await engine.start(work.tour, "kubernetes", id="t")
        result = await run.result()
        assert [line.text for line in await run.logs("who")] == ["I say so"]
        await eventually(lambda: not api.jobs)
    assert result["who"].pop("pid") != os.getpid()
    assert result == {
        "who": {"run": "t", "key": "t:who:0", "attempt": 1},
        "large": 3_000_000,
        "progress": {"half": True},
        "missing": 7,
    }


async def test_a_lost_pod_is_replaced_and_an_engine_that_takes_over_finds_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = InMemory()
    async with api_server(tmp_path, monkeypatch) as api:
        async with place.engine(work.through_the_gate) as first:
            await first.start(work.through_the_gate, {"folder": str(tmp_path), "on": "kubernetes"}, id="r")
            [[pid, key]] = await started(tmp_path)
            os.kill(int(pid), signal.SIGKILL)
            both = await started(tmp_path, 2)
            assert both[1][1] == key
        async with place.engine(work.through_the_gate) as second:
            (tmp_path / "gate").touch()
            assert await (await second.get("r")).result() == "through"
        assert api.created == 1
    assert len(await started(tmp_path)) == 2


async def test_a_cancelled_step_is_stopped_with_its_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        api_server(tmp_path, monkeypatch) as api,
        Engine("memory:", definitions=[work.through_the_gate]) as engine,
    ):
        run = await engine.start(work.through_the_gate, {"folder": str(tmp_path), "on": "kubernetes"})
        [[pid, _]] = await started(tmp_path)
        await run.cancel()
        await eventually(lambda: not api.jobs and not Path(f"/proc/{pid}").exists())


async def test_a_refusal_of_the_api_server_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with api_server(tmp_path, monkeypatch) as api:
        api.token = "another"
        async with Engine("memory:", definitions=[work.through_the_gate]) as engine:
            run = await engine.start(work.through_the_gate, {"folder": str(tmp_path), "on": "kubernetes"})
            with pytest.raises(RunFailed, match="it answered 401"):
                await run.result()


def test_a_call_of_any_size_comes_through_the_environment_as_it_was() -> None:
    call = ("é" * 60_000).encode()
    assert told_by(environment_of(call)) == call
    assert len(environment_of(call)) > 1
