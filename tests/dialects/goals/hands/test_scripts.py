"""Steps of type `script`."""

from typing import Any

import pytest

from plait.dialects.goals.steps.builder import catalog_step

from .rig import TOKEN, rig


@pytest.mark.parametrize(
    ("language", "script", "outputs"),
    [
        ("ale", "{:total (* amount 2)}", {"total": 10}),
        ("ale", "(* amount 2)", {"result": 10}),
        ("ale", "[amount amount]", {"result": [5, 5]}),
        ("lua", "return {total = amount * 2}", {"total": 10}),
        ("lua", "return amount * 2", {"result": 10}),
        ("lua", "return {amount, amount}", {"result": [5, 5]}),
        ("lua", "return {}", {}),
        ("lua", "return", {"result": None}),
    ],
)
async def test_an_object_names_outputs_and_anything_else_is_the_result(
    language: Any, script: str, outputs: Any
) -> None:
    async with rig() as here:
        done = await here.work(catalog_step("x").required("amount").output("total").script(language, script), amount=5)
        assert done.outputs == outputs


async def test_outputs_of_scripts_are_renamed() -> None:
    async with rig() as here:
        done = await here.work(catalog_step("x").output("total", inner="sum").lua("return {sum = 1, other = 2}"))
        assert done.outputs == {"total": 1, "other": 2}


@pytest.mark.parametrize(("language", "script"), [("ale", '(raise "no")'), ("lua", "error('no')")])
async def test_an_error_of_a_script_is_permanent(language: Any, script: str) -> None:
    async with rig() as here:
        done = await here.work(catalog_step("x").script(language, script))
        assert (done.error, done.permanent) == ("line 1: no", True)


async def test_a_script_can_ask_for_the_token_and_the_webhook_of_its_item() -> None:
    wanted = (
        catalog_step("x").meta("key", "receipt_token").meta("hook", "webhook_url").lua("return {k = key, h = hook}")
    )
    async with rig() as here:
        done = await here.work(wanted)
        assert done.outputs == {"k": TOKEN, "h": f"http://127.0.0.1:8080/webhook/run-1/x/{TOKEN}"}
