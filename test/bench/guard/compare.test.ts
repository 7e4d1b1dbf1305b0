import { describe, expect, test } from "bun:test";
import { exampleAgentsLine, exampleCell, exampleLine } from "../history/example-line.ts";
import { findKept, findWorse, findWorseOfAgents } from "./compare.ts";

const kept = exampleLine({ throughput: [exampleCell({ ratio: 0.4, cpuRatio: 4 })] });

describe("findWorse", () => {
  test.each([
    ["equal", { ratio: 0.4, cpuRatio: 4 }],
    ["better", { ratio: 0.8, cpuRatio: 2 }],
    ["worse by 14 %", { ratio: 0.344, cpuRatio: 4.56 }],
  ])("accepts figures that are %s", (_name, figures) => {
    expect(findWorse(kept, exampleCell(figures))).toEqual([]);
  });

  test("reports more CPU per request with both figures and the kept commit", () => {
    expect(findWorse(kept, exampleCell({ ratio: 0.4, cpuRatio: 5 }))).toEqual([
      "whole answers, 32 connections: CPU per request is 5.00 times the proxy's, " +
        "25 % more than the 4.00 at 1a2b3c4, 2026-11-22; at most 15 % is allowed",
    ]);
  });

  test("reports a lower rate", () => {
    expect(findWorse(kept, exampleCell({ ratio: 0.3, cpuRatio: 4 }))).toEqual([
      "whole answers, 32 connections: the rate is 0.300 of the proxy's, " +
        "25 % less than the 0.400 at 1a2b3c4, 2026-11-22; at most 15 % is allowed",
    ]);
  });

  test("does not compare a cell that the kept run lacks", () =>
    expect(findWorse(kept, exampleCell({ connections: 128, ratio: 0.01, cpuRatio: 99 }))).toEqual([]));
});

describe("findWorseOfAgents", () => {
  test("reports a lower rate with the cell's name", () => {
    expect(
      findWorseOfAgents(exampleAgentsLine(), { name: "chat to chat", ratio: 0.28, cpuRatio: 3.5 }),
    ).toEqual([
      "agents, chat to chat: the rate is 0.280 of the proxy's, " +
        "20 % less than the 0.350 at 1a2b3c4, 2026-11-22; at most 15 % is allowed",
    ]);
  });

  test("does not compare a cell that the kept run lacks", () =>
    expect(findWorseOfAgents(exampleAgentsLine(), { name: "other", ratio: 0, cpuRatio: 99 })).toEqual([]));
});

describe("findKept", () => {
  const { machine, form } = kept;

  test("finds the last run of the form on a machine of the kind", () => {
    const lines = [
      exampleLine({ date: "2026-11-20" }),
      exampleLine({ date: "2026-11-21" }),
      exampleLine({ date: "2026-11-22", form: { database: "sqlite", hasRedis: true } }),
      exampleLine({ date: "2026-11-23", form: { database: "postgres", hasRedis: false } }),
      exampleLine({ date: "2026-11-24", machine: { ...machine, cores: 64 } }),
      exampleLine({ date: "2026-11-25", isQuick: true }),
    ];
    expect(findKept(lines, machine, form)?.date).toBe("2026-11-21");
    expect(findKept(lines, machine, { database: "postgres", hasRedis: false })?.date).toBe("2026-11-23");
  });

  test("finds nothing on a machine of another kind", () =>
    expect(findKept([kept], { ...machine, cpu: "Other" }, form)).toBeUndefined());
});
