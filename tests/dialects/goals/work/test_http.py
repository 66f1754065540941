"""Steps that a web service does: what it is asked, and what its answers mean."""

from typing import Any

import msgspec
import pytest

from plait.dialects.goals.steps.builder import StepBuilder, catalog_step
from plait.egress import EgressSettings
from plait.kernel.ids import RunId
from tests.support.ports import free_port

from .rig import RUN, TOKEN, Done, rig
from .service import Answer, Asked, Said, Service, said, service


def pay(served: Service, path: str = "/pay", **options: Any) -> StepBuilder:
    return catalog_step("pay").required("amount").output("receipt").sync(served.url + path, **options)


async def answered(answer: Said | Answer, wanted: Any = pay) -> Done:
    """How the work ends if the service says that."""
    with service(answer if callable(answer) else lambda _: answer) as served:
        async with rig() as here:
            return await here.work(wanted(served), amount=5)


async def test_a_service_gets_the_inputs_and_all_that_names_the_call() -> None:
    with service(lambda _: said({"receipt": "r-1"})) as served:
        async with rig() as here:
            done = await here.work(pay(served), amount=5)
        [asked] = served.asked
    assert done.output == {"outputs": {"receipt": "r-1"}}
    assert (asked.method, asked.path, asked.json) == ("POST", "/pay", {"amount": 5})
    wanted = {
        "content-type": "application/json",
        "accept": "application/json",
        "argyll-flow-id": "run-1",
        "argyll-step-id": "pay",
        "argyll-receipt-token": TOKEN,
        "idempotency-key": TOKEN,
    }
    assert wanted.items() <= asked.headers.items()
    assert "argyll-webhook-url" not in asked.headers


async def test_the_flow_id_is_the_callers_own_and_fits_into_a_header() -> None:
    with service(lambda _: said({})) as served:
        async with rig() as here:
            for run_id in ("shop/order-7", "shop/bestellung ä"):
                assert not (await here.work(pay(served), run=msgspec.structs.replace(RUN, run_id=RunId(run_id)))).error
    assert [asked.headers["argyll-flow-id"] for asked in served.asked] == ["order-7", "bestellung %C3%A4"]


@pytest.mark.parametrize(("method", "body"), [("GET", b""), ("PUT", b'{"amount":5}'), ("DELETE", b'{"amount":5}')])
async def test_other_methods(method: Any, body: bytes) -> None:
    with service(lambda _: said({})) as served:
        async with rig() as here:
            await here.work(pay(served, method=method), amount=5)
    assert [(asked.method, asked.body) for asked in served.asked] == [(method, body)]


async def test_params_are_escaped_into_the_address() -> None:
    with service(lambda _: said({})) as served:
        wanted = catalog_step("x").required("id").required("n").required("q")
        wanted = wanted.sync(served.url + "/u/{id}/{n}/x?q={q}&all=1", method="GET")
        async with rig() as here:
            await here.work(wanted, id="a/../b c?", n=5, q="x&y=ä")
    assert served.asked[0].path == "/u/a%2F..%2Fb%20c%3F/5/x?q=x%26y%3D%C3%A4&all=1"


@pytest.mark.parametrize("value", [None, "", ".", ".."])
async def test_a_param_that_would_lead_elsewhere_is_refused(value: Any) -> None:
    with service(lambda _: said({})) as served:
        wanted = catalog_step("x").required("id").sync(served.url + "/u/{id}", method="DELETE")
        async with rig() as here:
            done = await here.work(wanted, id=value)
    assert done.permanent
    assert "{id}" in done.error
    assert served.asked == []


@pytest.mark.parametrize(
    ("answer", "outputs"),
    [
        (said({"receipt": "r-1", "more": None}), {"receipt": "r-1", "more": None}),
        (said({"receipt": 1}, status=201), {"receipt": 1}),
        (Said(200, b""), {}),
        (Said(204), {}),
        (Said(200, b" \n"), {}),
        (said(None), {}),
        (Said(200, b'{"receipt": 1}', {"Content-Type": "text/plain"}), {"receipt": 1}),
    ],
)
async def test_answers_that_are_outputs(answer: Said, outputs: Any) -> None:
    assert (await answered(answer)).outputs == outputs


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (said([1, 2]), "step returned a list, not an object of outputs"),
        (said("ok"), "step returned a plain value, not an object of outputs"),
        (Said(200, b"<p>hello"), "step returned what is not JSON: "),
        (Said(200, b'{"a": 1, "a": 2}'), "step returned what is not JSON: the key 'a' stands twice"),
    ],
)
async def test_answers_that_are_wrong_on_every_attempt(answer: Said, error: str) -> None:
    done = await answered(answer)
    assert done.permanent
    assert done.error.startswith(error)


PROBLEM = "application/problem+json"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (said({"title": "Bad", "detail": "no funds"}, 422, PROBLEM), "status 422: no funds"),
        (said({"title": "Bad"}, 422, PROBLEM), "status 422: Bad"),
        (said({"detail": "no funds"}, 400), "status 400: no funds"),
        (said({"error": "x"}, 404), 'status 404: {"error": "x"}'),
        (Said(404, b"not\n  here", {"Content-Type": "text/plain"}), "status 404: not here"),
        (Said(403, b"x" * 5000), f"status 403: {'x' * 300}…"),
        (Said(418, b"\x00\x01", {"Content-Type": "image/png"}), "status 418"),
        (Said(410), "status 410"),
        (Said(304), "status 304"),
    ],
)
async def test_other_statuses_are_permanent_and_say_why(answer: Said, error: str) -> None:
    done = await answered(answer)
    assert done.error == f"step returned HTTP error: {error}"
    assert done.permanent


@pytest.mark.parametrize("status", [500, 502, 503, 599])
async def test_errors_of_the_server_may_pass(status: int) -> None:
    done = await answered(said({"detail": "busy"}, status, PROBLEM))
    assert done.error == f"step returned HTTP error: status {status}: busy"
    assert done.retryable


async def test_a_step_may_name_statuses_that_are_tried_again() -> None:
    for status in (202, 409, 429):
        done = await answered(Said(status), lambda served: pay(served).retries(statuses=(202, 409, 429)))
        assert (done.error, done.retryable) == (f"step returned HTTP error: status {status}", True)


async def test_an_answer_that_does_not_come_in_time_may_come_on_another_attempt() -> None:
    with service(lambda _: (served.over.wait(), Said())[1]) as served:
        async with rig() as here:
            done = await here.work(pay(served, timeout=0.05), amount=5)
    assert done.error == f"step call failed: {served.url} did not answer in time: not done after 0.05 s"
    assert done.retryable


async def test_nobody_there_may_pass() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    async with rig() as here:
        done = await here.work(catalog_step("x").sync(url))
    assert done.error.startswith("step call failed: ")
    assert done.retryable


async def test_addresses_that_the_operator_closed_are_refused_for_good() -> None:
    with service(lambda _: said({})) as served:
        async with rig(settings=EgressSettings()) as here:
            done = await here.work(pay(served), amount=5)
    assert done.permanent
    assert served.asked == []


async def test_redirects_are_followed() -> None:
    def answer(asked: Asked) -> Said:
        if asked.path == "/pay":
            return Said(307, headers={"Location": "/paid"})
        return said({"receipt": asked.json["amount"]})

    assert (await answered(answer)).outputs == {"receipt": 5}


async def test_too_much_is_refused_for_good() -> None:
    done = await answered(said({"receipt": "x" * 1024 * 1024}))
    assert done.permanent
    assert "too large" in done.error


async def test_outputs_are_renamed_and_mapped() -> None:
    def wanted(served: Service) -> StepBuilder:
        outputs = catalog_step("x").output("receipt", inner="id").output("sum", script=("jpath", "$.lines[*].price"))
        return outputs.sync(served.url)

    lines = [{"price": 1}, {"price": 2}]
    done = await answered(said({"id": "r-1", "lines": lines}), wanted)
    assert done.outputs == {"receipt": "r-1", "sum": [1, 2], "lines": lines}


async def test_an_async_step_is_accepted_whatever_the_answer_says() -> None:
    with service(lambda _: Said(202, b"thanks")) as served:
        async with rig() as here:
            done = await here.work(catalog_step("render").required("page").webhook(served.url + "/render"), page=1)
        [asked] = served.asked
    assert (done.output, done.error) == (None, "")
    assert asked.headers["argyll-webhook-url"] == f"http://127.0.0.1:8080/webhook/run-1/render/{TOKEN}"


async def test_an_async_step_fails_as_others_do() -> None:
    def wanted(served: Service) -> StepBuilder:
        return catalog_step("render").webhook(served.url)

    assert (await answered(Said(400), wanted)).permanent
    assert (await answered(Said(503), wanted)).retryable


async def test_meta_inputs_of_the_call_are_in_the_body() -> None:
    with service(lambda _: said({})) as served:
        wanted = pay(served).meta("token", "receipt_token").meta("hook", "webhook_url").meta("other", "unknown")
        async with rig() as here:
            await here.work(wanted, amount=5)
    hook = f"http://127.0.0.1:8080/webhook/run-1/pay/{TOKEN}"
    assert served.asked[0].json == {"amount": 5, "token": TOKEN, "hook": hook}


async def test_a_compensator_gets_what_went_in_and_out_by_the_names_of_the_step() -> None:
    with service(lambda _: Said(200, b"undone")) as served:
        wanted = catalog_step("pay").required("buyer", inner="customer").output("receipt", inner="id")
        wanted = wanted.sync(served.url + "/pay", method="PUT", compensate=served.url + "/undo/{customer}/{id}")
        async with rig() as here:
            done = await here.undo(wanted, {"customer": "c/1"}, {"receipt": "r 1", "more": 2})
        [asked] = served.asked
    assert (done.output, done.error) == (None, "")
    assert (asked.method, asked.path) == ("POST", "/undo/c%2F1/r%201")
    assert asked.json == {"input": {"customer": "c/1"}, "output": {"id": "r 1", "more": 2}}
    wanted_headers = {"argyll-flow-id": "run-1", "argyll-step-id": "pay", "argyll-receipt-token": TOKEN}
    assert wanted_headers.items() <= asked.headers.items()
    assert asked.headers["idempotency-key"] == TOKEN


async def test_a_compensator_fails_as_work_does() -> None:
    for status, retryable in ((500, True), (404, False)):
        with service(lambda _, status=status: Said(status)) as served:
            async with rig() as here:
                done = await here.undo(pay(served, compensate=served.url), {"amount": 5}, {})
        assert (done.error, done.retryable) == (f"step returned HTTP error: status {status}", retryable)


async def test_a_probe_tells_what_is_wrong() -> None:
    from plait.egress import Egress
    from plait.workers.http import HttpProbe

    with service(lambda asked: Said(503 if asked.path == "/sick" else 200)) as served:
        async with Egress(EgressSettings(private=True)) as egress:
            probe = HttpProbe(egress.send)
            assert await probe(served.url + "/well") == ""
            assert await probe(served.url + "/sick") == "health check returned status 503"
        async with Egress() as egress:
            assert await HttpProbe(egress.send)(served.url)
    assert {asked.method for asked in served.asked} == {"GET"}
