"""The tools of AFL over HTTP."""

from __future__ import annotations

from tests.server.serving import problem, serving

GOOD = "namespace shop {\n    event facet Pay(sku: String) => (id: String)\n}\n"
BAD = "namespace shop {\n    facet F() andThen { s = G() }\n}\n"


async def test_a_program_is_checked() -> None:
    async with serving() as served:
        good = (await served.post("/afl/check", {"source": GOOD})).json()
        assert good == {"valid": True, "diagnostics": []}
        bad = (await served.post("/afl/check", {"sources": [{"name": "a.afl", "text": BAD}]})).json()
        [error] = bad["diagnostics"]
        assert (bad["valid"], error["code"], error["file"], error["line"], error["column"]) == (
            False,
            "REF_UNKNOWN_FACET",
            "a.afl",
            2,
            29,
        )


async def test_a_program_is_compiled_and_taken_back() -> None:
    async with serving() as served:
        made = (await served.post("/afl/compile", {"source": GOOD, "version": "2.0"})).json()
        assert made["program"]["versions"]["workflow_version"] == "2.0"
        again = (await served.post("/afl/compile", {"compiled": made["program"], "version": "2.0"})).json()
        assert again["hash"] == made["hash"]
        checked = (await served.post("/afl/check", {"compiled": made["program"]})).json()
        assert checked["valid"]


async def test_a_program_with_errors_is_refused_with_all_of_them() -> None:
    async with serving() as served:
        found = problem(await served.post("/afl/compile", {"source": BAD}), 422, "AFL_COMPILE")
        assert [each["code"] for each in found["errors"]] == ["REF_UNKNOWN_FACET"]
        assert "2:29" in found["errors"][0]["message"]
        [diagnostic] = found["diagnostics"]
        assert (diagnostic["code"], diagnostic["severity"]) == ("REF_UNKNOWN_FACET", "error")
        assert (diagnostic["file"], diagnostic["line"], diagnostic["column"]) == ("source.afl", 2, 29)
        assert diagnostic.keys() >= {"message", "hint", "end_line", "end_column"}


async def test_source_is_formatted() -> None:
    async with serving() as served:
        made = (await served.post("/afl/format", {"source": "facet F( )"})).json()
        assert made == {"source": "facet F()\n"}
        problem(await served.post("/afl/format", {"source": "facet F("}), 422, "AFL_COMPILE")


async def test_a_body_with_none_or_several_programs_is_refused() -> None:
    async with serving() as served:
        problem(await served.post("/afl/check", {}), 422, "AFL_DEFINITION")
        problem(await served.post("/afl/compile", {"source": GOOD, "sources": []}), 422, "AFL_DEFINITION")
        assert (await served.post("/afl/compile", {"compiled": {}})).status_code == 422
