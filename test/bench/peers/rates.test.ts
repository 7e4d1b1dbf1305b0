import { expect, test } from "bun:test";
import { type PeersCell, PROXY, TOLLGATE } from "./plan.ts";
import { compareWithAims, type Round, summarize } from "./rates.ts";

const CELL: PeersCell = { kind: "whole", connections: 32, roundMs: 1 };

function rounds(...perSecond: number[]): Round[] {
  return perSecond.map((each) => ({ perSecond: each, p99Ms: 10, cpuUs: 1e6 / each }));
}

test("ratios are medians over rounds that ran one after the other", () => {
  const { rows } = summarize(CELL, [
    { name: PROXY, rounds: rounds(1000, 100, 400), fault: undefined },
    { name: TOLLGATE, rounds: rounds(500, 50, 200), fault: undefined },
    { name: "TensorZero", rounds: rounds(250, 25, 50), fault: undefined },
  ]);
  expect(rows[2]).toMatchObject({
    perSecond: 50,
    byProxy: 0.25,
    byTollgate: 0.5,
    cpuByProxy: 4,
    cpuByTollgate: 2,
  });
});

test("a contestant with a wrong answer is compared with none", () => {
  const { rows } = summarize(CELL, [
    { name: PROXY, rounds: rounds(1000), fault: "status 500" },
    { name: TOLLGATE, rounds: rounds(500), fault: undefined },
  ]);
  expect(rows[0]?.fault).toBe("status 500");
  expect(rows[1]).toMatchObject({ perSecond: 500, byProxy: Number.NaN, byTollgate: 1 });
});

test("an aim compares Tollgate's rate with the peer's at the aim's kind and number of connections", () => {
  const agent = summarize({ ...CELL, kind: "agent", connections: 16 }, [
    { name: TOLLGATE, rounds: rounds(700), fault: undefined },
    { name: "Portkey on Bun", rounds: rounds(500), fault: undefined },
  ]);
  const cell = summarize(CELL, [
    { name: TOLLGATE, rounds: rounds(900), fault: undefined },
    { name: "Portkey on Bun", rounds: rounds(600), fault: undefined },
    { name: "TensorZero", rounds: rounds(900), fault: "status 500" },
  ]);
  const ratios = compareWithAims([cell, agent]).map(({ peer, kind, connections, ratio }) => [
    peer,
    kind,
    connections,
    ratio,
  ]);
  expect(ratios).toEqual([
    ["Portkey on Bun", "whole", 32, 1.5],
    ["Portkey on Bun", "whole", 128, undefined],
    ["TensorZero", "whole", 32, undefined],
    ["Portkey on Bun", "agent", 16, 1.4],
  ]);
});
