import { expect, test } from "bun:test";
import { createFairQueue } from "../../src/workers/fair-queue.ts";

test("a fair queue serves owners in turn and each owner's items in order", () => {
  const queue = createFairQueue<string>();
  for (const item of ["a1", "a2", "a3", "b1", "c1", "b2"]) queue.push(item.charAt(0), item);
  expect(queue.size).toBe(6);
  const served = Array.from({ length: 7 }, () => queue.shift());
  expect(served).toEqual(["a1", "b1", "c1", "a2", "b2", "a3", undefined]);
  expect(queue.size).toBe(0);
});
