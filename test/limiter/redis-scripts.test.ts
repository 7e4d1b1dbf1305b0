import { expect, test } from "bun:test";
import { createScriptBatches } from "../../src/limiter/redis/scripts.ts";

const request = { group: "", keys: ["key"], args: [1] };

test("requests of one event-loop turn share a call, and each gets its part of the reply", async () => {
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

test("requests of different groups share no call", async () => {
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
  ["null", null],
  ["too few numbers", [0]],
  ["too many numbers", [0, 0, 0]],
  ["a string", [0, "1"]],
  ["a fraction", [0, 0.5]],
])("a reply of %s is rejected with a TypeError", async (_, answer) => {
  const run = createScriptBatches(async () => answer as number[], 2);
  expect(run(request)).rejects.toThrow("Redis returned a malformed script reply");
});
