"""Formatting: the same program, every comment, and nothing to do the second time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings

from plait.dialects.afl.language.diagnostic import Diagnostics
from plait.dialects.afl.language.formatting.format import format_source
from plait.dialects.afl.language.parser import Parsed, parse
from plait.dialects.afl.language.source_file import SourceFile, SourceText
from plait.dialects.afl.language.tree import same_program
from tests.dialects.afl.language.generated import programs
from tests.support.effort import examples


def read(text: str) -> Parsed:
    diagnostics = Diagnostics()
    parsed = parse(SourceText(SourceFile("a.afl", text)), diagnostics)
    assert diagnostics.found == [], (text, diagnostics.found)
    return parsed


def formatted(text: str) -> str:
    found = format_source(SourceFile("a.afl", text)).text
    assert found is not None
    return found


@pytest.mark.costly
@settings(max_examples=examples(60))
@given(programs())
def test_parse_format_parse_gives_the_same_tree(text: str) -> None:
    before = read(text)
    tidy = formatted(text)
    after = read(tidy)
    assert same_program(before.tree, after.tree)
    assert formatted(tidy) == tidy
    assert sorted(_words(before)) == sorted(_words(after))


def _words(parsed: Parsed) -> list[str]:
    """Of the comments: those that were moved may have another beginning."""
    return [re.sub(r"[\s*/]+", " ", each.value).strip() for each in parsed.comments]


MESSY = """\
// first
namespace   shop{ use  a.b ;uses c
/**  Sends mail.
       * @param to whom */
  event facet Send(to:String,text : String="hi")=>(id:String);


  // a facet
  facet Long1(aaaaaaaaaaaaaaaaaaaa: Long, bbbbbbbbbbbbbbbbbbbbbbbbbb: String, ccccccccccc: [Double]) => (dddd: Long)
  workflow W(x:Long /* the x */) andThen { // block
      s=Send(to="a"++$.x) // why
      /* before t */ t = Send(to = s.id) with Timeout(hours=1) andThen { }
      catch when { case t.error_type=="X"=>{ } case _ => {yield W(a=1) with Send(id="")} }
      // last
  }
}
// end"""

TIDY = """\
// first
namespace shop {
    use a.b
    use c
    /**  Sends mail.
     * @param to whom */
    event facet Send(to: String, text: String = "hi") => (id: String)

    // a facet
    facet Long1(
        aaaaaaaaaaaaaaaaaaaa: Long,
        bbbbbbbbbbbbbbbbbbbbbbbbbb: String,
        ccccccccccc: [Double]
    ) => (
        dddd: Long
    )
    /* the x */
    workflow W(x: Long) andThen {
        // block
        s = Send(to = "a" ++ $.x)  // why
        /* before t */
        t = Send(to = s.id) with Timeout(hours = 1) andThen {} catch when {
            case t.error_type == "X" => {}
            case _ => {
                yield W(a = 1)
                yield Send(id = "")
            }
        }
        // last
    }
}
// end
"""


def test_a_messy_file_becomes_tidy() -> None:
    assert formatted(MESSY) == TIDY
    assert formatted(TIDY) == TIDY


def test_a_comment_does_not_become_a_doc_comment() -> None:
    tidy = formatted("facet /** inside */ F()")
    assert tidy == "/* inside */\nfacet F()\n"


def test_scripts_keep_their_lines() -> None:
    text = 'facet F() script {\n  if x:\n      y = """\n  a\n"""\n}'
    tidy = formatted(text)
    assert same_program(read(text).tree, read(tidy).tree)
    assert formatted(tidy) == tidy


@pytest.mark.parametrize("text", ["facet F(", "namespace a {", '"'])
def test_what_does_not_parse_is_left_alone(text: str) -> None:
    found = format_source(SourceFile("a.afl", text))
    assert found.text is None
    assert found.diagnostics[0].code == "PARSE_ERROR"


def test_an_empty_file_stays_empty() -> None:
    assert formatted("") == ""
    assert formatted("\r\n") == ""
