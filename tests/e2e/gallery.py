"""A namespace with one of everything, for pictures and for what takes long to make."""

from __future__ import annotations

from .drawing import BILL, THANKS, save
from .serving import Server
from .steps import ORDER, reach, register

NS = "gallery"
NODES = 500


def fill(server: Server) -> None:
    def begin(definition: str, input: object, id: str, **labels: str) -> None:
        server.begin(definition, input, id=id, namespace=NS, labels=labels)

    begin("checkout", {"customer": "Ada", "cups": 3}, "order-1", team="blue", region="eu-west")
    begin("checkout", {"customer": "Grace Hopper", "cups": 4}, "order-2", team="red")
    begin("checkout", {"customer": "Edsger"}, "order-3", team="red")
    begin("restock", "acme", "restock-1", team="blue")
    begin("patient", None, "dial-1")
    begin("steady", {"customer": "Ada"}, "steady-1")
    limits = {"concurrency": 1, "rate": 50, "max_waiting": 1000}
    server.client.put("/queues/emails", json=limits, params={"namespace": NS})
    for id in ("mail-1", "mail-2", "mail-3"):
        server.begin("steady", {"customer": "Ada"}, id=id, namespace=NS, queue="emails")
    server.client.put("/queues/*", json={"concurrency": 100}, params={"namespace": NS})
    begin("wide", 60, "wide-1")
    begin("long", NODES, "long-1")
    begin("crowd", 80, "crowd-1")
    server.decide("order-1", data={"discount": 10, "note": "be quick"}, namespace=NS)
    server.decide("order-2", data={"discount": 0}, namespace=NS)
    for id in ("order-1", "order-2", "wide-1", "long-1", "crowd-1"):
        server.ended(id, namespace=NS)
    server.ended("restock-1", "failed", namespace=NS)
    server.asked("order-3", namespace=NS)
    server.waits("dial-1", "retry", namespace=NS)
    server.waits("steady-1", "message", namespace=NS)
    server.waits("mail-1", "message", namespace=NS)
    _schedule(server)
    register(server, ORDER, NS)
    reach(server, ["letter"], {"email": "ada@example.com", "card": "visa", "customer_id": "c-1"}, "sale-1", NS)
    reach(server, ["break", "greet"], {"name": "Ada"}, "sale-2", NS)
    server.ended("sale-1", namespace=NS)
    server.ended("sale-2", "failed", namespace=NS)
    save(server, "bill", BILL, namespace=NS)
    server.begin("bill", {"amount": 120}, id="bill-1", dialect="graph", namespace=NS)
    server.waits("bill-1", "join", namespace=NS)
    server.post("/runs/bill-1/patch", {"operations": THANKS}, namespace=NS)
    server.post("/definitions/bill/patch", {"operations": THANKS, "description": "Say thanks"}, namespace=NS)
    server.client.put("/definitions/greet/tags/stable", json={"version": "1"}, params={"namespace": NS})


def _schedule(server: Server) -> None:
    """One that has started two runs, by hand: its own time comes once a year."""
    body = {"definition": "steady", "input": {"customer": "Ada"}, "cron": "30 2 1 1 *", "tz": "Europe/Berlin"}
    server.client.put("/schedules/nightly", json=body, params={"namespace": NS}).raise_for_status()
    for overlap in ("skip", "allow"):
        server.post("/schedules/nightly/trigger", {"overlap": overlap}, namespace=NS)
    server.soon(lambda: server.get("/schedules/nightly/fires", namespace=NS)["fires"], lambda fires: len(fires) == 2)
