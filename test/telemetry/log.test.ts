import { describe, expect, test } from "bun:test";
import pino from "pino";
import { createLogger, type LogFields } from "../../src/telemetry/log.ts";

const TIME = /"time":"[^"]+"/;

/** The lines of our logger and of a plain pino, without their times. */
function printBoth(fields: LogFields, event: string): { ours: string[]; pinos: string[] } {
  const ours: string[] = [];
  const pinos: string[] = [];
  const write = (lines: string[]) => (line: string) => void lines.push(line.replace(TIME, '"time"'));
  createLogger("info", write(ours)).info(fields, event);
  const options = { level: "info", base: null, timestamp: pino.stdTimeFunctions.isoTime };
  pino(options, { write: write(pinos) }).info(fields, event);
  return { ours, pinos };
}

describe("a line of the log", () => {
  const CASES: readonly (readonly [what: string, fields: LogFields])[] = [
    ["no fields", {}],
    ["the fields of a request", { request: "r", surface: "chat", status: 200, ms: 3, chargedUsd: "0.01" }],
    ["quotes, backslashes and controls", { text: 'a "b" \\ \n \u0001 \u2028 é 😀' }],
    ["half of a surrogate pair", { text: "\ud83d" }],
    ["a long text", { text: "x".repeat(1_000) }],
    ["undefined, null and booleans", { none: undefined, nothing: null, yes: true }],
    ["numbers that JSON does not have", { nan: Number.NaN, most: Infinity }],
    ["nested values", { because: { fault: "Error", code: undefined, at: ["a", "b"] }, date: new Date(0) }],
    ["a function", { call: () => 1 }],
    ["a bigint", { amount: 12n, text: "kept" }],
  ];

  test.each(CASES)("with %s is what pino prints", (_what, fields) => {
    const { ours, pinos } = printBoth(fields, 'an "event"');
    expect(ours).toEqual(pinos);
    expect(ours).toHaveLength(1);
  });

  test("with a circle is printed as JSON", () => {
    const circle: Record<string, unknown> = { name: "circle" };
    circle.self = circle;
    const { ours, pinos } = printBoth({ circle }, "event");
    expect(ours).toEqual(pinos);
    expect(() => JSON.parse(ours[0]?.replace('"time"', '"time":0') ?? "")).not.toThrow();
  });

  test("below the level is not printed", () => {
    const lines: string[] = [];
    createLogger("warn", (line) => lines.push(line)).info({}, "event");
    expect(lines).toEqual([]);
  });

  test("begins with its level and its time in UTC", () => {
    const lines: string[] = [];
    createLogger("info", (line) => lines.push(line)).warn({ a: 1 }, "event");
    expect(lines[0]).toMatch(/^\{"level":40,"time":"\d{4}-\d\d-\d\dT[\d:.]+Z","a":1,"msg":"event"\}\n$/);
  });
});
