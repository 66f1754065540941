"""A catalog of steps: an order, from an address to a letter. All but the shipping are scripts, so it runs anywhere."""

from __future__ import annotations

from typing import Any

from .flows import EVIL
from .serving import Server

Attributes = dict[str, Any]


def need(type: str = "any", **more: Any) -> Attributes:
    return {"role": "required", "type": type, **more}


def may(type: str = "any", **more: Any) -> Attributes:
    return {"role": "optional", "type": type, **more}


def out(type: str = "any", **more: Any) -> Attributes:
    return {"role": "output", "type": type, **more}


def script(id: str, name: str, text: str, attributes: Attributes, **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "name": name,
        "type": "script",
        "attributes": attributes,
        "script": {"language": "ale", "script": text},
        **more,
    }


FIND = script(
    "find-customer",
    "Find the customer",
    '{:customer_id (str "c-" email)}',
    {"email": need("string"), "customer_id": out("string")},
    labels={"team": "crm"},
)
CART = script(
    "load-cart",
    "Load the cart",
    "{:cart [{:price 40} {:price 90}]}",
    {"customer_id": need("string"), "cart": out("array")},
    labels={"team": "shop"},
)
CACHED = script(
    "cached-cart",
    "Cart of the cache",
    "{:cart (:cart session)}",
    {"session": need("object"), "cart": out("array")},
    labels={"team": "shop"},
)
TOTAL = script(
    "total",
    "Add it up",
    "{:total (reduce + (map :price cart))}",
    {"cart": need("array"), "total": out("number")},
    work_config={"max_retries": 3, "init_backoff": 500, "backoff_type": "fixed"},
)
REBATE = script(
    "rebate",
    "Rebate of friends",
    '{:rebate (if (eq tier "gold") 20 5)}',
    {"total": need("number"), "tier": may("string", default='"none"'), "rebate": out("number")},
    predicate={"language": "ale", "script": "(> total 100)"},
)
CHARGE = script(
    "charge",
    "Charge the card",
    '{:receipt (str "paid " (- total rebate) " with " card)}',
    {
        "total": need("number"),
        "rebate": may("number", default="0", deadline=-1),
        "card": need("string"),
        "receipt": out("string"),
    },
    labels={"team": "pay", "pci": "yes"},
)
LETTER = script(
    "letter",
    "Write a letter",
    '{:letter (str "Dear " to ": " receipt)}',
    {"receipt": need("string"), "email": need("string", mapping={"name": "to"}), "letter": out("string")},
)
LABELS = script(
    "label-parcels",
    "Label each parcel",
    '{:label (str "to " email ": " (:price item))}',
    {"cart": need("array", for_each=True, mapping={"name": "item"}), "email": need("string"), "label": out("string")},
    work_config={"parallelism": 4},
)
SHIP = {
    "id": "ship",
    "name": "Ship it",
    "type": "sync",
    "attributes": {"label": need("any"), "receipt": need("string"), "parcel": out("string")},
    "http": {"endpoint": "http://127.0.0.1:9/ship", "timeout": 2000, "health_check": "http://127.0.0.1:9/health"},
    "work_config": {"retry": "never"},
    "labels": {"team": "logistics"},
}
GREET = script(
    "greet", "Say hello", '{:greeting (str "hello " name)}', {"name": need("string"), "greeting": out("string")}
)
BREAK = script("break", "Break", '(raise "out of ink: " name)', {"name": need("string"), "ruin": out("string")})

ORDER = [FIND, CART, CACHED, TOTAL, REBATE, CHARGE, LETTER, LABELS, SHIP, GREET, BREAK]


def register(server: Server, steps: list[dict[str, Any]], namespace: str) -> None:
    for step in steps:
        server.post("/definitions", {"dialect": "goals", "definition": step, "mode": "upsert"}, namespace=namespace)


def reach(server: Server, goals: list[str], input: Any, id: str, namespace: str) -> None:
    server.post(
        "/runs", {"dialect": "goals", "definition": {"goals": goals}, "input": input, "id": id}, namespace=namespace
    )


def evil() -> dict[str, Any]:
    """A step whose every text would like to be HTML."""
    return script(
        "evil",
        EVIL.format("name"),
        f"; {EVIL.format('script')}\n{{:evil 1}}",
        {EVIL.format("attribute")[:40]: out(), "evil": out()},
        labels={"<b>k</b>": EVIL.format("label")},
    )
