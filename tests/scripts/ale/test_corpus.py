"""Every example of the corpus has its value, or its error."""

import pytest

from plait.scripts.ale import AleError, Script
from tests.scripts.ale.corpus import Example, examples

EXAMPLES = examples()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example.theme}: {example.text}")
def test_an_expression_has_its_value(example: Example):
    try:
        shown = Script(example.text).show()
    except AleError as error:
        shown = f"!{error.message}"
    assert shown == example.expected


def test_the_corpus_is_large_and_has_no_example_twice():
    texts = [example.text for example in EXAMPLES]
    assert len(texts) > 400
    assert sorted({text for text in texts if texts.count(text) > 1}) == []
