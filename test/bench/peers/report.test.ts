import { expect, test } from "bun:test";
import { PROXY, TOLLGATE } from "./plan.ts";
import { type ContestantRounds, compareWithAims, summarize } from "./rates.ts";
import { printPeersReport } from "./report.ts";

const ROUND = { perSecond: 1000, p99Ms: 12.345, cpuUs: 40 };
const MONEY = {
  requests: 1,
  chargedUsd: "0.1",
  expectedUsd: "0.1",
  heldUsd: "0.0",
  auditIsClean: true,
  isRight: true,
};

function printed(...records: ContestantRounds[]): string[] {
  const cells = [summarize({ kind: "whole", connections: 32, roundMs: 1 }, records)];
  return printPeersReport({
    cells,
    memory: [{ name: TOLLGATE, version: "", idleMb: 80.4, loadedMb: 120.6 }],
    absent: [{ name: "LiteLLM", version: "1.0", reason: "cannot be installed: there is no python3" }],
    tollgateAnswers: 1,
    aims: compareWithAims(cells),
    money: MONEY,
  }).split("\n");
}

function rowOf(lines: readonly string[], label: string): string[] | undefined {
  return lines
    .find((line) => line.startsWith(label))
    ?.trim()
    .split(/\s{2,}/);
}

const BOTH: ContestantRounds[] = [
  { name: PROXY, rounds: [{ ...ROUND, perSecond: 4000, cpuUs: 10 }], fault: undefined },
  { name: TOLLGATE, rounds: [ROUND], fault: undefined },
];

test("a row shows medians and the ratios to the proxy and to Tollgate", () => {
  const lines = printed(...BOTH);
  expect(rowOf(lines, TOLLGATE)).toEqual([TOLLGATE, "1000", "12.35", "40", "0.25", "1.00", "4.00", "1.00"]);
});

test("a row without an answer inside a round has no p99", () => {
  const slow = { name: "LiteLLM", rounds: [{ ...ROUND, p99Ms: Number.NaN }], fault: undefined };
  expect(rowOf(printed(...BOTH, slow), "LiteLLM  ")?.slice(0, 3)).toEqual(["LiteLLM", "1000", "-"]);
});

test("contestants that answered wrongly or could not be installed are listed with the reason", () => {
  const lines = printed(...BOTH, { name: "TensorZero", rounds: [], fault: "status 500" });
  expect(rowOf(lines, "TensorZero")).toEqual(["TensorZero", "could not be measured: status 500"]);
  expect(lines).toContain("LiteLLM 1.0 could not be measured: cannot be installed: there is no python3");
  expect(lines).toContain("Tollgate ÷ TensorZero, whole answers/s, 32 connections: could not be measured");
});

test("an aim that is reached and a further one that is not are told apart", () => {
  const lines = printed(...BOTH, {
    name: "Portkey on Bun",
    rounds: [{ ...ROUND, perSecond: 625 }],
    fault: undefined,
  });
  expect(lines).toContain(
    "Tollgate ÷ Portkey on Bun, whole answers/s, 32 connections: 1.60, aim 1.3 ok, beyond it 2 SHORT",
  );
});
