import { expect, test } from "bun:test";
import { createRefusalMemory } from "../../src/gateway/refusal-memory.ts";

function memoryAt(): { memory: ReturnType<typeof createRefusalMemory>; at(ms: number): void } {
  let now = 0;
  return {
    memory: createRefusalMemory(() => now),
    at: (ms) => {
      now = ms;
    },
  };
}

test("two refusals within a second are not remembered, the third is for one second", () => {
  const { memory, at } = memoryAt();
  memory.note("k", "wallet_empty");
  memory.note("k", "wallet_empty");
  expect(memory.recall("k")).toBeUndefined();
  at(999);
  memory.note("k", "spending_limit");
  expect(memory.recall("k")).toBe("spending_limit");
  at(1998);
  expect(memory.recall("k")).toBe("spending_limit");
  at(1999);
  expect(memory.recall("k")).toBeUndefined();
});

test("refusals further apart than a second are not added up", () => {
  const { memory, at } = memoryAt();
  for (const ms of [0, 600, 1100, 1800]) {
    at(ms);
    memory.note("k", "wallet_empty");
  }
  expect(memory.recall("k")).toBeUndefined();
});

test("one key's refusals say nothing about another's", () => {
  const { memory } = memoryAt();
  for (let i = 0; i < 3; i += 1) memory.note("k", "wallet_empty");
  expect(memory.recall("other")).toBeUndefined();
});

test("a million keys that are refused once leave a bounded memory", () => {
  const { memory } = memoryAt();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 1_000_000; i += 1) memory.note(`key-${i}`, "wallet_empty");
  Bun.gc(true);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20 * 1024 * 1024);
});
