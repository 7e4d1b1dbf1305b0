import { expect, test } from "bun:test";
import { createCallerTable } from "../../src/limiter/memory.ts";
import { advance, take } from "../../src/limiter/window.ts";

test("the caller table removes callers that were idle for a minute while others are looked up", () => {
  const callers = createCallerTable();
  for (let index = 0; index < 10_000; index += 1) take(callers.find(`key-${index}`, 0).window, 0, 1);
  expect(callers.size).toBe(10_000);
  for (let index = 0; index < 10_000; index += 1) callers.find("busy", 60_000);
  expect(callers.size).toBeLessThan(3);
});

test("the caller table does not accumulate ids that were looked up once and never admitted", () => {
  const callers = createCallerTable();
  for (let index = 0; index < 10_000; index += 1) callers.find(`key-${index}`, index);
  expect(callers.size).toBeLessThan(10);
});

test("the caller table keeps a caller with a running request for an hour", () => {
  const callers = createCallerTable();
  const caller = callers.find("slow", 0);
  caller.running = 1;
  for (let index = 0; index < 100; index += 1) callers.find("busy", 3_600_000);
  expect(callers.find("slow", 3_600_000)).toBe(caller);
});

test("peek adds no caller to the table", () => {
  const callers = createCallerTable();
  expect(callers.peek("key", 0).window.requests).toBe(0);
  expect(callers.size).toBe(0);
});

test("a caller takes less than 4 KB after 100,000 admissions", () => {
  const { window } = createCallerTable().find("busy", 0);
  for (let index = 0; index < 100_000; index += 1) {
    advance(window, index * 10);
    take(window, index * 10, 1_000_000);
  }
  let bytes = 0;
  for (const part of Object.values(window)) {
    // Any other type could grow without being measured here.
    expect(typeof part === "number" || part instanceof Float64Array).toBe(true);
    bytes += part instanceof Float64Array ? part.byteLength : 8;
  }
  expect(bytes).toBeLessThan(4096);
});
