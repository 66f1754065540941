"""A small catalog for the tests of commands: an order, from items to a receipt, in scripts that run anywhere."""

import json
from typing import Any

from tests.cli.support import Desk


def need(type: str = "any", **more: Any) -> dict[str, Any]:
    return {"role": "required", "type": type, **more}


def may(type: str = "any", **more: Any) -> dict[str, Any]:
    return {"role": "optional", "type": type, **more}


def out(type: str = "any", **more: Any) -> dict[str, Any]:
    return {"role": "output", "type": type, **more}


def script(id: str, text: str, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    step = {"id": id, "name": id, "type": "script", "attributes": attributes}
    return {**step, "script": {"language": "ale", "script": text}, **more}


FIND = script("find", '{:customer (str "c-" email)}', {"email": need("string"), "customer": out("string")})
GOODS = script("goods", "{:goods (reduce + items)}", {"items": need("array"), "goods": out("number")})
GIFT = script(
    "gift",
    '{:gift "biscuits"}',
    {"goods": need("number"), "gift": out("string")},
    predicate={"language": "ale", "script": "(> goods 100)"},
)
RECEIPT = script(
    "receipt",
    '{:receipt (str customer " pays " goods " " gift)}',
    {
        "customer": need("string"),
        "goods": need("number"),
        "gift": may("string", default='"alone"', deadline=-1),
        "receipt": out("string"),
    },
)
PACK = script("pack", "{:box items}", {"items": need("array", for_each=True), "box": out()})

ORDER = [FIND, GOODS, GIFT, RECEIPT, PACK]


def register(desk: Desk, *steps: dict[str, Any]) -> None:
    write(desk, list(steps or ORDER))
    ran = desk.plait("check", "steps.json", "--register")
    assert ran.code == 0, ran.out + ran.err


def write(desk: Desk, steps: Any) -> None:
    (desk.folder / "steps.json").write_text(json.dumps(steps))
