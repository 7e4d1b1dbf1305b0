import { expect, test } from "bun:test";
import { createScriptBatches } from "../../src/limiter/redis/scripts.ts";

const request = { group: "", keys: ["key"], args: [1] };

test("requests of one turn share a call, and each gets its part of the answer", async () => {
  const calls: number[] = [];
  const run = createScriptBatches(async (keys) => {
    calls.push(keys.length);
    return keys.flatMap((_, index) => [index, index]);
  }, 2);
  const answers = await Promise.all(Array.from({ length: 70 }, () => run(request)));
  expect(calls).toEqual([64, 6]);
  expect(answers.at(3)).toEqual([3, 3]);
  expect(answers.at(64)).toEqual([0, 0]);
});

test("requests of different groups share none", async () => {
  const calls: (readonly string[])[] = [];
  const run = createScriptBatches(async (keys) => {
    calls.push(keys);
    return keys.map(() => 0);
  }, 1);
  const of = (group: string) => run({ ...request, group, keys: [group] });
  await Promise.all([of("a"), of("b"), of("a")]);
  expect(calls).toEqual([["a", "a"], ["b"]]);
});

test.each([
  ["nothing", null],
  ["too little", [0]],
  ["too much", [0, 0, 0]],
  ["what is no number", [0, "1"]],
  ["a fraction", [0, 0.5]],
])("an answer of %s is none", async (_, answer) => {
  const run = createScriptBatches(async () => answer as number[], 2);
  expect(run(request)).rejects.toThrow("Redis returned a malformed script reply");
});
