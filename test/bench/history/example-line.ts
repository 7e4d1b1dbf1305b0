import type { AgentsLine, HistoryCell, HistoryLine } from "./line.ts";

const RATE = { perSecond: 20_000, p50Ms: 1.5, p99Ms: 4, cpuUs: 42 };

/** Returns a cell of whole answers with 32 connections. */
export function exampleCell(special: Partial<HistoryCell> = {}): HistoryCell {
  return {
    kind: "whole",
    connections: 32,
    ratio: 0.35,
    cpuRatio: 3.5,
    proxy: RATE,
    gateway: { ...RATE, perSecond: 7_000, cpuUs: 147 },
    serverCpuUs: {},
    beside: [],
    ...special,
  };
}

const HEAD = {
  date: "2026-11-22T10:00:00.000Z",
  commit: { hash: "1a2b3c4", isDirty: false },
  machine: { cpu: "Example CPU", cores: 2, memoryGb: 24, kernel: "6.18.0", bun: "1.4.5" },
  isQuick: false,
  form: { database: "sqlite", hasRedis: false },
  money: { requests: 1000, isRight: true },
} as const;

/** Returns the line of a run of agents with one cell. */
export function exampleAgentsLine(special: Partial<AgentsLine> = {}): AgentsLine {
  const { ratio, cpuRatio, proxy, gateway } = exampleCell();
  const cells = [{ name: "chat to chat", ratio, cpuRatio, proxy, gateway }];
  return { ...HEAD, agents: { cells, stallMs: 24 }, ...special };
}

/** Returns the line of a full run on SQLite. */
export function exampleLine(special: Partial<HistoryLine> = {}): HistoryLine {
  return {
    ...HEAD,
    throughput: [exampleCell()],
    steady: { perSecond: 500, added: { p50: 0.8, p99: 4.2 } },
    stall: { steadyMs: 3, bodiesMs: 24 },
    memory: {
      idle: { proxyMb: 27, gatewayMb: 84 },
      streams: 2000,
      proxy: { beforeMb: 40, openMb: 62 },
      gateway: { beforeMb: 100, openMb: 150 },
    },
    ...special,
  };
}
