import { describe, expect, test } from "bun:test";
import type { Form } from "../form.ts";
import { exampleCell, exampleLine } from "../history/example-line.ts";
import { readPlan } from "./plan.ts";
import { printReport, type Report } from "./report.ts";

const NO_PERCENTILES = { p50: 0, p99: 0 };

function report(form: Form, cell: ReturnType<typeof exampleCell>): Report {
  const { steady, stall, memory } = exampleLine();
  return {
    form,
    throughput: [{ ...cell, kind: "whole", ceilingPerSecond: 50_000 }],
    steady: { ...steady, proxy: NO_PERCENTILES, gateway: NO_PERCENTILES, late: NO_PERCENTILES },
    stall,
    memory,
    money: {
      requests: 1,
      chargedUsd: "1",
      expectedUsd: "1",
      heldUsd: "0",
      auditIsClean: true,
      isRight: true,
    },
  };
}

const SQLITE: Form = { database: "sqlite", hasRedis: false };

describe("the report", () => {
  test.each([
    ["missed", { ratio: 0.37, cpuRatio: 3.3 }, ["0.38 SHORT", "3.2 SHORT"]],
    ["reached", { ratio: 0.38, cpuRatio: 3.2 }, ["0.38 ok", "3.2 ok"]],
    ["exceeded by far", { ratio: 0.5, cpuRatio: 2.5 }, ["0.5 beyond", "2.5 beyond"]],
  ])("shows aims that are %s", (_name, figures, verdicts) => {
    const printed = printReport(report(SQLITE, exampleCell(figures)));
    for (const verdict of verdicts) expect(printed).toContain(verdict);
  });

  test("compares a gateway with Redis to the one without, and shows the CPU of Redis", () => {
    const beside = [{ label: "without Redis", ratio: 0.9, cpuRatio: 1.2 }];
    const cell = exampleCell({ beside, serverCpuUs: { redis: 31 } });
    const printed = printReport(report({ database: "sqlite", hasRedis: true }, cell));
    expect(printed).toContain("SQLite + Redis");
    expect(printed).toMatch(/÷ no Redis.*Redis µs\n.* 0\.90 +0\.9 ok +1\.20 +31\n/);
  });

  test("compares PostgreSQL to SQLite, and shows the CPU of the server", () => {
    const beside = [{ label: "on SQLite", ratio: 0.6, cpuRatio: 1.5 }];
    const cell = exampleCell({ ratio: 0.19, beside, serverCpuUs: { postgres: 95 } });
    const printed = printReport(report({ database: "postgres", hasRedis: false }, cell));
    expect(printed).toContain("0.2 SHORT");
    expect(printed).toContain("aim under 2 and 5 ms added");
    expect(printed).toMatch(/÷ SQLite.*Postgres µs\n.* 0\.60 +1\.50 +95\n/);
  });
});

describe("readPlan", () => {
  test("reads the form", () => {
    expect(readPlan(["--database", "postgres", "--redis"]).form).toEqual({
      database: "postgres",
      hasRedis: true,
    });
    expect(readPlan([]).form).toEqual(SQLITE);
  });

  test("rejects an unknown database", () =>
    expect(() => readPlan(["--database", "mysql"])).toThrow("it must be sqlite or postgres"));

  test("rejects keeping a quick run", () =>
    expect(() => readPlan(["--quick", "--keep"])).toThrow("Cannot keep a quick run"));
});
