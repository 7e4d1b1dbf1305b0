import { expect, test } from "bun:test";
import { createCallerTable } from "../../src/limiter/memory.ts";
import { advance, take } from "../../src/limiter/window.ts";

test("callers idle for a minute are forgotten while others come", () => {
  const callers = createCallerTable();
  for (let index = 0; index < 10_000; index += 1) take(callers.find(`key-${index}`, 0).window, 0, 1);
  expect(callers.size).toBe(10_000);
  for (let index = 0; index < 10_000; index += 1) callers.find("busy", 60_000);
  expect(callers.size).toBeLessThan(3);
});

test("ids that are asked for once and never admitted do not pile up", () => {
  const callers = createCallerTable();
  for (let index = 0; index < 10_000; index += 1) callers.find(`key-${index}`, index);
  expect(callers.size).toBeLessThan(10);
});

test("a caller with a running request is kept, however long it runs", () => {
  const callers = createCallerTable();
  const caller = callers.find("slow", 0);
  caller.running = 1;
  for (let index = 0; index < 100; index += 1) callers.find("busy", 3_600_000);
  expect(callers.find("slow", 3_600_000)).toBe(caller);
});

test("peek remembers nothing", () => {
  const callers = createCallerTable();
  expect(callers.peek("key", 0).window.requests).toBe(0);
  expect(callers.size).toBe(0);
});

test("a caller takes under 4 KB, however much it is admitted for", () => {
  const { window } = createCallerTable().find("busy", 0);
  for (let index = 0; index < 100_000; index += 1) {
    advance(window, index * 10);
    take(window, index * 10, 1_000_000);
  }
  let bytes = 0;
  for (const part of Object.values(window)) {
    // Anything else could grow without being counted here.
    expect(typeof part === "number" || part instanceof Float64Array).toBe(true);
    bytes += part instanceof Float64Array ? part.byteLength : 8;
  }
  expect(bytes).toBeLessThan(4096);
});
