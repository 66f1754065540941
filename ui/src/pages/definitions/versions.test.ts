// @vitest-environment node
import { expect, test } from "vitest";
import type { Definition, Version } from "../../api/types";
import { asJson, firstLine, matches, tagsOf, usualReference, versionKey, versionsOf } from "./versions";

const version = (label: string, at: number, hash = `hash-${at}`): Version => ({
  version: label,
  hash,
  created_at: at,
  loaded: true,
});
const order: Definition = {
  name: "shop.order",
  dialect: "code",
  version: "1",
  loaded: true,
  doc: "Takes an order.\n\nAnd ships it.",
  tags: { stable: "1", next: "hash-2" },
  versions: [version("1", 1), version("2", 2)],
};

test("every word has to be somewhere in the name, the doc, the dialect or the tags", () => {
  expect(matches(order, "")).toBe(true);
  expect(matches(order, "ORDER stable")).toBe(true);
  expect(matches(order, "ships code")).toBe(true);
  expect(matches(order, "order refund")).toBe(false);
});

test("versions come newest first, and are asked for by label unless two have the same", () => {
  expect(versionsOf(order).map((one) => one.version)).toEqual(["2", "1"]);
  expect(versionKey(version("1", 1), order.versions)).toBe("1");
  const twins = [version("1", 1), version("1", 2)];
  expect(twins.map((one) => versionKey(one, twins))).toEqual(["hash-1", "hash-2"]);
});

test("without a word a run starts by the plain name, or with the newest label when all versions have one", () => {
  expect(usualReference(order)).toBe("2");
  expect(usualReference({ ...order, versions: [...order.versions, version("abc", 0, "abc")] })).toBe("");
  expect(
    usualReference({ ...order, versions: order.versions.map((one) => ({ ...one, loaded: one.version === "1" })) }),
  ).toBe("1");
  expect(usualReference({ ...order, versions: [] })).toBe("");
});

test("a tag may name a version by label or by hash", () => {
  expect(order.versions.map((one) => tagsOf(order, one))).toEqual([["stable"], ["next"]]);
});

test("only a source that is a JSON document is one", () => {
  expect(asJson('{"a": 1}')).toEqual({ a: 1 });
  expect(asJson("def f(): ...")).toBeUndefined();
  expect(asJson("{not json")).toBeUndefined();
});

test("the first line stands for the doc", () => {
  expect(firstLine("\n Takes it.\nMore.")).toBe("Takes it.");
});
