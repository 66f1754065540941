"""Steps of type `script`."""

from typing import Any

import pytest

from plait.dialects.goals.errors import ScriptInvalid
from plait.dialects.goals.steps.builder import catalog_step
from plait.dialects.goals.steps.scripts import check_scripts
from plait.scripts.languages import Languages

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


async def test_what_lua_prints_is_in_the_log_of_the_task_also_if_it_fails() -> None:
    async with rig() as here:
        done = await here.work(catalog_step("x").lua("print('one', 2) return {}"))
        assert done.lines == ["info: one\t2"]
        done = await here.work(catalog_step("x").lua("print('before') error('no')"))
        assert (done.lines, done.error, done.retryable) == (["info: before"], "line 1: no", False)


async def test_the_message_of_the_registration_is_that_of_the_spec() -> None:
    wanted = catalog_step("x").required("amount").required("user").sync("http://a/b").when("ale", "(> amout 1)").build()
    languages = Languages()
    with pytest.raises(ScriptInvalid) as caught:
        await check_scripts(wanted, languages)
    await languages.close()
    assert caught.value.message == "predicate of 'x', line 1: unknown name 'amout'; inputs: amount, user"
