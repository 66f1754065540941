"""The three programs that the seed of the dialect walks through."""

_BLOCK = """andThen {
        a = Value(input = $.input + 1)
        b = Value(input = $.input + 10)
        c = Value(input = a.input + b.input)
        yield %s(%s = c.input)
    }"""

ONE = """
namespace test.one {
    facet Value(input: Long, output: Long)
    workflow TestOne(input: Long = 1) => (output: Long) andThen {
        s1 = Value(input = $.input + 1)
        s2 = Value(input = s1.input + 1)
        yield TestOne(output = s2.input + 1)
    }
}
"""
TWO = f"""
namespace test.two {{
    facet Value(input: Long, output: Long)
    workflow TestTwo(input: Long = 1) => (output: Long) {_BLOCK % ("TestTwo", "output")}
}}
"""
THREE = f"""
namespace test.three {{
    facet Value(input: Long, output: Long)
    workflow TestThree(input: Long = 1) => (output1: Long, output2: Long, output3: Long)
        {" ".join(_BLOCK % ("TestThree", f"output{place}") for place in (1, 2, 3))}
}}
"""
