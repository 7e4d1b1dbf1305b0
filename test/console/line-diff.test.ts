import { expect, test } from "bun:test";
import { diffLines } from "../../src/console/line-diff.ts";

const print = (left: string, right: string) =>
  diffLines(left, right).map(({ left: one, right: other }) => `${one ?? "·"}|${other ?? "·"}`);

test("equal lines stand beside each other, and changed ones beside what replaces them", () => {
  expect(print("a\nb\nc\nd", "a\nx\nc\ny\nd")).toEqual(["a|a", "b|x", "c|c", "·|y", "d|d"]);
  expect(print("a", "a")).toEqual(["a|a"]);
  expect(print("a\nb", "b")).toEqual(["a|·", "b|b"]);
  expect(print("a\na", "a\na\na")).toHaveLength(3);
});

test("texts too long for a table of all pairs are compared at their ends", () => {
  const long = Array.from({ length: 3_000 }, (_, index) => index);
  const [one, other] = [long.map((each) => `l${each}`), long.map((each) => `r${each}`)];
  const pairs = diffLines(["same", ...one, "end"].join("\n"), ["same", ...other, "end"].join("\n"));
  expect(pairs).toHaveLength(3_002);
  expect([pairs[0], pairs.at(-1)]).toEqual([
    { left: "same", right: "same" },
    { left: "end", right: "end" },
  ]);
});
