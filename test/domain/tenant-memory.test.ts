import { expect, test } from "bun:test";
import { TenantMemory } from "../../src/domain/tenant-memory.ts";

test("a full memory forgets the oldest value of the tenant with the most", () => {
  const memory = new TenantMemory<number>(4);
  memory.set("small", "own", 1);
  for (let value = 0; value < 100; value += 1) memory.set("large", `name ${value}`, value);
  expect(memory.size).toBe(4);
  expect(memory.get("small", "own")).toBe(1);
  expect(memory.get("large", "name 96")).toBeUndefined();
  expect(memory.get("large", "name 97")).toBe(97);
});

test("a new tenant takes its place from the largest one", () => {
  const memory = new TenantMemory<number>(3);
  memory.set("one", "a", 1);
  memory.set("other", "a", 1);
  memory.set("other", "b", 2);
  memory.set("third", "a", 1);
  expect(memory.has("other", "a")).toBe(false);
  expect([memory.has("one", "a"), memory.has("other", "b"), memory.has("third", "a")]).toEqual([
    true,
    true,
    true,
  ]);
});

test("a value that is set again is the newest, and one that is deleted makes room", () => {
  const memory = new TenantMemory<number>(2);
  memory.set("t", "a", 1);
  memory.set("t", "b", 2);
  memory.set("t", "a", 3);
  memory.set("t", "c", 4);
  expect([memory.get("t", "a"), memory.get("t", "b"), memory.get("t", "c")]).toEqual([3, undefined, 4]);
  memory.delete("t", "a");
  memory.delete("t", "none");
  expect(memory.size).toBe(1);
  memory.sweep((value) => value === 4);
  expect([memory.size, memory.has("t", "c")]).toEqual([0, false]);
  memory.set("t", "c", 5);
  memory.clear();
  expect(memory.has("t", "c")).toBe(false);
});
