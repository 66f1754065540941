import { expect, test } from "vitest";
import { pieces, unitOf } from "./marks";
import { textsOf, withText } from "./texts";
import { linesOf } from "./tokens";

const kindsOf = (text: string) =>
  linesOf(text, "afl")
    .flat()
    .filter(({ kind }) => kind !== "plain")
    .map(({ kind, text: part }) => `${kind} ${part}`);

test("a statement of AFL is coloured by what its words are", () => {
  expect(kindsOf('pay = shop.Pay(sku = "a\\"b" ++ $.total, n = 1.5e3) with Retry(max = 2) as r')).toEqual([
    "name pay",
    "call Pay",
    "name sku",
    'string "a\\"b"',
    "name $",
    "name total",
    "name n",
    "number 1.5e3",
    "keyword with",
    "call Retry",
    "name max",
    "number 2",
    "keyword as",
  ]);
});

test("keywords are plain names where the language takes them so", () => {
  expect(kindsOf("event facet F(event: String) => (case: Long)")).toEqual([
    "keyword event",
    "keyword facet",
    "call F",
    "name event",
    "type String",
    "name case",
    "type Long",
  ]);
  expect(kindsOf("yield W(x = s.catch)")).toEqual(["keyword yield", "call W", "name x", "name catch"]);
  expect(kindsOf("case _ => { }")).toEqual(["keyword case"]);
});

test("comments and strings that never end colour the rest, and nothing is lost", () => {
  for (const text of ['x = "open\nfacet', "/* open\nfacet", "/** doc */ facet /", "/**/facet", "€ 😀 \\ ' facet"]) {
    expect(
      linesOf(text, "afl")
        .map((line) => line.map((token) => token.text).join(""))
        .join("\n"),
    ).toBe(text);
  }
  expect(kindsOf("/**/facet")).toEqual(["comment /**/", "keyword facet"]);
});

test("a script ends at its brace, whatever stands in its strings and comments", () => {
  const code = " x = '}' # }\n y = {\"a\": '''}'''} ";
  expect(kindsOf(`script python {${code}} andThen { }`)).toEqual([
    "keyword script",
    `script${code.split("\n")[0]}`.replace("script", "script "),
    `script ${code.split("\n")[1]}`,
    "keyword andThen",
  ]);
});

test("a text of an unknown language is plain, line by line", () => {
  expect(linesOf("a\n\nb", "cobol")).toEqual([[{ kind: "plain", text: "a" }], [], [{ kind: "plain", text: "b" }]]);
});

test("marks cut tokens where they begin and end", () => {
  const tokens = [
    { kind: "name" as const, text: "pay" },
    { kind: "plain" as const, text: " = 1" },
  ];
  const marks = [{ line: 0, from: 1, to: 5, look: "lit" }];
  expect(pieces(tokens, marks).map(({ text, look }) => [text, look])).toEqual([
    ["p", undefined],
    ["ay", "lit"],
    [" =", "lit"],
    [" 1", undefined],
  ]);
});

test("columns count characters, not units of UTF-16", () => {
  expect(unitOf("😀a", 2)).toBe(2);
  expect(unitOf("ab", 9)).toBe(2);
});

test("the text that a definition holds is found and replaced, in one file or in one of several", () => {
  expect(textsOf({ source: "a", strict: true })).toEqual({
    files: [{ name: "source", text: "a" }],
    rest: { strict: true },
  });
  const several = {
    sources: [
      { name: "x.afl", text: "1" },
      { name: "y.afl", text: "2" },
    ],
  };
  expect(textsOf(withText(several, 1, "3"))?.files.map(({ text }) => text)).toEqual(["1", "3"]);
  expect(withText({ source: "a" }, 0, "b")).toEqual({ source: "b" });
  expect(textsOf({ nodes: [] })).toBeUndefined();
  expect(textsOf({ sources: [{ name: 1 }] })).toBeUndefined();
});
