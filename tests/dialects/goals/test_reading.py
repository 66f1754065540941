"""A step can be written in several ways; it is stored in one, and what is wrong with it is said in full."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from plait.dialects.goals import limits
from plait.dialects.goals.errors import GoalsError
from plait.dialects.goals.steps.reading import read_step
from plait.dialects.goals.steps.step import Step, clean, emitted, is_id
from plait.kernel.queued import QUEUE_RULE

WORK = {
    "max_retries": 10,
    "init_backoff": 1000,
    "max_backoff": 60000,
    "backoff_type": "exponential",
    "parallelism": 1,
}


def sent(**more: Any) -> dict[str, Any]:
    return {"id": "x", "name": "X", "type": "python", "python": {"handler": "h"}, **more}


def sync(**http: Any) -> dict[str, Any]:
    return {"id": "x", "name": "X", "type": "sync", "http": http}


def with_attribute(attribute: Any) -> dict[str, Any]:
    return sent(attributes={"a": attribute})


def emitted_attribute(attribute: Any) -> Any:
    return emitted(read_step(with_attribute(attribute)))["attributes"]["a"]


def refusal(data: Any) -> str:
    with pytest.raises(GoalsError) as caught:
        read_step(data)
    assert caught.value.code == "goals.step_invalid"
    return caught.value.message


def test_the_seed_event_is_read_and_emitted_nested_with_its_defaults() -> None:
    step = read_step(
        {
            "id": "send-email",
            "name": "Send Email",
            "type": "async",
            "http": {"url": "https://api.example.com/send-email", "method": "POST"},
            "attributes": {
                "recipient": {"role": "required", "type": "string"},
                "subject": {"role": "required", "type": "string"},
                "body": {"role": "optional", "type": "string", "default": '"Hello!"'},
                "message_id": {"role": "output", "type": "string"},
            },
        }
    )
    assert emitted(step) == {
        "id": "send-email",
        "name": "Send Email",
        "type": "async",
        "http": {"endpoint": "https://api.example.com/send-email", "method": "POST", "timeout": 30000},
        "attributes": {
            "body": {"role": "optional", "type": "string", "optional": {"default": '"Hello!"'}},
            "message_id": {"role": "output", "type": "string"},
            "recipient": {"role": "required", "type": "string"},
            "subject": {"role": "required", "type": "string"},
        },
        "work_config": WORK,
    }


FLAT_AND_NESTED: list[dict[str, Any]] = [
    {"role": "required", "for_each": True},
    {"role": "required", "collect": "all", "match": {"language": "ale", "script": "value"}},
    {"role": "optional", "default": "[1]", "deadline": 5, "for_each": True},
    {"role": "optional", "deadline": -1, "mapping": {"name": "b"}},
    {"role": "output", "mapping": {"script": {"language": "jpath", "script": "$.a"}}},
    {"role": "const", "value": "null"},
    {"role": "meta", "key": "flow_id"},
]


@pytest.mark.parametrize("flat", FLAT_AND_NESTED, ids=str)
def test_flat_and_nested_shapes_are_the_same_step_and_come_out_nested(flat: dict[str, Any]) -> None:
    detail = {field: value for field, value in flat.items() if field != "role"}
    nested = {"role": flat["role"], "type": "any", flat["role"]: detail}
    assert emitted_attribute(flat) == emitted_attribute(nested) == emitted_attribute({**flat, **nested}) == nested


def test_what_was_emitted_reads_as_the_same_step_and_decodes_to_it() -> None:
    for flat in FLAT_AND_NESTED:
        step = read_step(with_attribute(flat))
        assert read_step(emitted(step)) == step
        assert msgspec.json.decode(msgspec.json.encode(step), type=Step) == step


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        (
            {"role": "optional", "default": "1", "optional": {"default": "2"}},
            "'default' of 'a' is given twice and differs; keep one",
        ),
        (
            {"role": "required", "optional": {"default": "2"}},
            "'optional' of 'a' does not fit its role 'required'; remove it or change the role",
        ),
        ({}, "attribute 'a' has no role; add one of required, optional, output, const, meta"),
        ({"role": "input"}, "'role' is 'input'; use 'required', 'optional', 'output', 'const' or 'meta'"),
        (
            {"role": "required", "type": "int"},
            "'type' is 'int'; use 'any', 'string', 'number', 'boolean', 'object', 'array' or 'null'",
        ),
        (
            {"role": "required", "default": "1"},
            "'default' of 'a' is not allowed for role 'required'; remove it or use role 'optional'",
        ),
        (
            {"role": "output", "for_each": True},
            "'for_each' of 'a' is not allowed for role 'output'; remove it or use role 'required' or 'optional'",
        ),
        (
            {"role": "optional", "match": {"language": "ale", "script": "1"}},
            "'match' of 'a' is not allowed for role 'optional'; remove it or use role 'required'",
        ),
        (
            {"role": "required", "deadline": 5},
            "'deadline' of 'a' is not allowed for role 'required'; remove it or use role 'optional'",
        ),
        (
            {"role": "meta", "key": "flow_id", "value": "1"},
            "'value' of 'a' is not allowed for role 'meta'; remove it or use role 'const'",
        ),
        (
            {"role": "required", "for_each": True, "type": "string"},
            "'for_each' of 'a' needs type 'array' or 'any', not 'string'; change the type",
        ),
        (
            {"role": "optional", "deadline": -2},
            "'deadline' of 'a' is -2; use 0 to 31536000000 ms, or -1 to wait as long as it takes",
        ),
        (
            {"role": "optional", "deadline": 31536000001},
            "'deadline' of 'a' is 31536000001; use 0 to 31536000000 ms, or -1 to wait as long as it takes",
        ),
        (
            {"role": "optional", "default": "Hello!"},
            """'default' of 'a' is not JSON; write JSON in the string, such as "\\"text\\"" or "1\"""",
        ),
        (
            {"role": "optional", "type": "number", "default": "true"},
            "'default' of 'a' is no number; change it or the type",
        ),
        (
            {"role": "const", "type": "string", "value": "1"},
            "'value' of 'a' is no string; change it or the type",
        ),
        ({"role": "const"}, "const 'a' has no value; add 'value', a string holding JSON"),
        ({"role": "meta"}, "meta 'a' has no key; add 'key', such as 'flow_id', or a run label"),
        ({"role": "required", "mapping": {}}, "the mapping is empty; give it a 'name', a 'script' or both"),
        (
            {"role": "required", "collect": "any"},
            "'collect' is 'any'; use 'first', 'last', 'some', 'all' or 'none'",
        ),
        (None, "attribute 'a' is null; remove it or give it a role"),
        ("required", "'a' is a string; use an object"),
    ],
    ids=str,
)
def test_an_attribute_that_is_wrong_is_refused_with_what_to_do(attribute: Any, text: str) -> None:
    assert refusal(with_attribute(attribute)) == f"step 'x': {text}"


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("string", '"a"', "1"),
        ("number", "1.5", '"1"'),
        ("boolean", "true", "0"),
        ("object", "{}", "[]"),
        ("array", "[]", "{}"),
        ("null", "null", "0"),
    ],
)
def test_a_default_must_fit_its_type(kind: str, good: str, bad: str) -> None:
    assert emitted_attribute({"role": "optional", "type": kind, "default": good})["optional"] == {"default": good}
    assert refusal(with_attribute({"role": "optional", "type": kind, "default": bad}))


@pytest.mark.parametrize("kind", ["sync", "async", "script", "flow", "python", "run"])
def test_a_type_wants_just_its_own_config(kind: str) -> None:
    configs = {
        "http": {"endpoint": "http://localhost/"},
        "script": {"language": "ale", "script": "1"},
        "flow": {"goals": ["g"]},
        "python": {"handler": "h"},
        "run": {"dialect": "code", "definition": "order"},
    }
    own = "http" if kind in ("sync", "async") else kind
    bare = {"id": "x", "name": "X", "type": kind}
    assert read_step({**bare, own: configs[own]}).type == kind
    assert refusal(bare) == f"step 'x': '{own}' is missing for type '{kind}'; add it"
    for other in configs.keys() - {own}:
        use = "sync" if other == "http" else other
        text = f"step 'x': '{other}' is not allowed for type '{kind}'; remove it or use type '{use}'"
        assert refusal({**bare, own: configs[own], other: configs[other]}) == text


def test_url_is_an_alias_of_endpoint_and_backoff_of_init_backoff() -> None:
    step = read_step({**sync(url="http://localhost/u"), "work_config": {"backoff": 7}})
    assert step.http is not None
    assert (step.http.endpoint, step.work_config.init_backoff) == ("http://localhost/u", 7)
    same = {
        **sync(url="http://localhost/u", endpoint="http://localhost/u"),
        "work_config": {"backoff": 7, "init_backoff": 7},
    }
    assert read_step(same) == step
    text = "step 'x': 'url' and 'endpoint' are the same field and differ; keep one"
    assert refusal(sync(url="http://localhost/u", endpoint="http://localhost/v")) == text
    text = "step 'x': 'backoff' and 'init_backoff' are the same field and differ; keep one"
    assert refusal(sent(work_config={"backoff": 7, "init_backoff": 8})) == text


@pytest.mark.parametrize("timeout", [None, 0, -5])
def test_a_timeout_of_nothing_is_the_default(timeout: int | None) -> None:
    assert read_step(sync(endpoint="http://localhost/", timeout=timeout)) == read_step(
        sync(endpoint="http://localhost/")
    )


@pytest.mark.parametrize(
    ("work", "stored"),
    [
        ({}, {}),
        ({"max_retries": 0, "init_backoff": 0, "max_backoff": 0, "parallelism": 0, "backoff_type": ""}, {}),
        ({"max_retries": -1}, {"max_retries": -1}),
        ({"max_retries": 3, "backoff_type": "fixed"}, {"max_retries": 3, "backoff_type": "fixed"}),
        ({"retry": "never"}, {"retry": "never", "max_retries": 0}),
        ({"retry_statuses": [429, 408, 429]}, {"retry_statuses": (408, 429)}),
    ],
    ids=str,
)
def test_work_is_stored_with_its_defaults(work: dict[str, Any], stored: dict[str, Any]) -> None:
    assert emitted(read_step(sent(work_config=work)))["work_config"] == {**WORK, **stored}


@pytest.mark.parametrize(
    ("work", "text"),
    [
        ({"max_retries": -2}, "'max_retries' is -2; use -1 (unlimited), 0 (default) or more"),
        ({"init_backoff": -1}, "'init_backoff' is negative; use 0 (default) or more"),
        ({"max_backoff": -1}, "'max_backoff' is negative; use 0 (default) or more"),
        ({"parallelism": -1}, "'parallelism' is negative; use 0 (default) or more"),
        ({"max_retries": 1000}, "'max_retries' is 1000; use up to 999, or -1"),
        ({"max_backoff": 86_400_001}, "'max_backoff' is 86400001; use up to 86400000 ms, a day"),
        (
            {"max_backoff": 999},
            "'max_backoff' 999 is less than 'init_backoff' 1000; raise 'max_backoff' or lower 'init_backoff'",
        ),
        (
            {"init_backoff": 60001},
            "'max_backoff' 60000 is less than 'init_backoff' 60001; raise 'max_backoff' or lower 'init_backoff'",
        ),
        ({"retry": "never", "max_retries": 1}, "'retry' is 'never' and 'max_retries' is 1; remove one"),
        ({"retry": "no"}, "'retry' is 'no'; use 'never'"),
        ({"backoff_type": "none"}, "'backoff_type' is 'none'; use 'exponential', 'linear' or 'fixed'"),
        ({"retry_statuses": [99]}, "'retry_statuses' holds what is no HTTP status; use numbers from 100 to 599"),
        ({"parallelism": "2"}, "'parallelism' is a string; use a whole number"),
    ],
    ids=str,
)
def test_work_that_makes_no_sense_is_refused(work: dict[str, Any], text: str) -> None:
    assert refusal(sent(work_config=work)) == f"step 'x': {text}"


def test_maps_of_a_flow_are_short_for_mapping_names() -> None:
    attributes = {"card": {"role": "required"}, "done": {"role": "output"}}
    flow: dict[str, Any] = {"goals": ["pay", "pay"], "input_map": {"card": "number"}, "output_map": {"done": "paid"}}
    step = read_step({"id": "x", "name": "X", "type": "flow", "flow": flow, "attributes": attributes})
    assert emitted(step)["flow"] == {"goals": ("pay",)}
    assert emitted(step)["attributes"] == {
        "card": {"role": "required", "type": "any", "required": {"mapping": {"name": "number"}}},
        "done": {"role": "output", "type": "any", "output": {"mapping": {"name": "paid"}}},
    }
    flow["input_map"] = {"done": "x"}
    text = "step 'x': 'done' in 'input_map' is no input of the step; declare it or remove it"
    assert refusal({"id": "x", "name": "X", "type": "flow", "flow": flow, "attributes": attributes}) == text


def test_equal_inner_names_on_one_side_are_refused_and_on_two_sides_are_fine() -> None:
    renamed = {"role": "required", "mapping": {"name": "b"}}
    assert read_step(sent(attributes={"a": renamed, "b": {"role": "output"}}))
    text = "step 'x': 'a' and 'b' have the same inner name 'b'; map one to another name"
    assert refusal(sent(attributes={"a": renamed, "b": {"role": "const", "value": "1"}})) == text


def test_params_of_an_endpoint_are_required_inputs_by_inner_name_and_of_compensate_any_name() -> None:
    attributes = {
        "user": {"role": "required", "mapping": {"name": "id"}},
        "lang": {"role": "optional"},
        "receipt": {"role": "output"},
    }
    good = sync(endpoint="http://localhost/{id}", compensate="http://localhost/{id}/{lang}/{receipt}")
    assert read_step({**good, "attributes": attributes})
    for endpoint in ("http://localhost/{user}", "http://localhost/{lang}", "http://localhost/{}"):
        assert "name a required input: id" in refusal({**sync(endpoint=endpoint), "attributes": attributes})
    bad = sync(endpoint="http://localhost/", compensate="http://localhost/{user}")
    assert "name an input or output: id, lang, receipt" in refusal({**bad, "attributes": attributes})
    text = "step 'x': unknown {id} in http.endpoint; add 'id' as a required input"
    assert refusal(sync(endpoint="http://localhost/{id}")) == text


def test_what_is_undone_can_not_be_remembered() -> None:
    http = sync(endpoint="http://localhost/", compensate="http://localhost/undo")
    assert "'compensate' and 'memoizable' exclude each other" in refusal({**http, "memoizable": True})
    assert "'compensate' and 'memoizable'" in refusal(sent(python={"handler": "h", "compensate": "u"}, memoizable=True))


@pytest.mark.parametrize("queue", ["two words", "-x", "q" * 201])
def test_a_queue_that_no_worker_could_ask_for_is_refused(queue: str) -> None:
    text = refusal(sent(python={"handler": "h", "queue": queue}))
    assert text == f"step 'x': queue {queue[:80]!r} is no name of a queue; {QUEUE_RULE}"
    called = read_step(sent(python={"handler": "h", "queue": "gpu:2"})).python
    assert called is not None
    assert called.queue == "gpu:2"


def test_unknown_fields_are_refused_and_left_out_on_the_compatible_mount() -> None:
    odd = {**sync(endpoint="http://localhost/", colour=1), "attributes": {"a": {"role": "output", "x": 1}}, "y": 2}
    with pytest.raises(GoalsError) as caught:
        read_step(odd)
    assert sorted(flaw.pointer for flaw in caught.value.flaws) == ["/attributes/a/x", "/http/colour", "/y"]
    assert "y" not in emitted(read_step(odd, strict=False))


@pytest.mark.parametrize("data", [None, [], "x", 1])
def test_a_step_that_is_no_object_is_refused(data: Any) -> None:
    assert refusal(data) == "step '': a step is an object; send one with 'id', 'name' and 'type'"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            sent(labels={str(number): "" for number in range(33)}),
            "step 'x' has 33 labels, the limit is 32; remove some",
        ),
        (
            sent() | {"id": "a" * 257},
            f"the id of step '{'a' * 40}…' has 257 characters, the limit is 256; choose a shorter id",
        ),
        (
            sent() | {"name": "n" * limits.STEP_BYTES},
            "step 'x' has 524,349 bytes, the limit is 524,288; make it smaller",
        ),
        (
            sent(predicate={"language": "ale", "script": "é" * 32769}),
            "a script of step 'x' has 65,538 bytes, the limit is 65,536; shorten or split it",
        ),
        (
            {"id": "x", "name": "X", "type": "flow", "flow": {"goals": [f"g{number}" for number in range(65)]}},
            "flow step 'x' has 65 goals, the limit is 64; remove some",
        ),
    ],
    ids=["labels", "id", "step", "script", "goals"],
)
def test_a_step_over_a_limit_is_refused_with_limit_and_size(data: Any, text: str) -> None:
    with pytest.raises(GoalsError) as caught:
        read_step(data)
    assert (caught.value.code, caught.value.status, caught.value.message) == ("goals.too_large", 413, text)


def test_a_step_at_its_limits_is_let_in() -> None:
    assert read_step(sent(labels={str(number): "" for number in range(32)}) | {"id": "a" * 256})
    assert read_step(sent(predicate={"language": "ale", "script": "a" * limits.SCRIPT_BYTES}))


def test_ids() -> None:
    assert all(is_id(each) for each in ("a", "a-b", "_", ".a+1", "a" * 256))
    assert not any(is_id(each) for each in ("", "-a", "a-", "A", "a b", "ä", "a/b", "a\n", "a" * 257))
    assert clean(" Send E-Mail!/v2 ") == "send-e-mailv2"
    assert clean("--É--") == ""


@pytest.mark.parametrize("name", ["", " ", "\t", "\u00a0 ", "a\nb", "a\r", "a\u2028b", "a\x00"])
def test_names_of_blanks_or_with_line_breaks_are_refused(name: str) -> None:
    assert "attribute" in refusal(sent(attributes={name: {"role": "output"}}))


def test_a_name_may_have_blanks_between_its_words() -> None:
    assert read_step(sent(attributes={"a b": {"role": "output"}}))
