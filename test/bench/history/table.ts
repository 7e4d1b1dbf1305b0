import { printForm } from "../form.ts";
import {
  type AgentsLine,
  type HistoryCell,
  type HistoryLine,
  isAgentsLine,
  isGatewayLine,
  type KeptLine,
  machineKind,
  printCommit,
} from "./line.ts";

const HEADINGS = [
  "date",
  "commit",
  "form",
  "Bun",
  "whole, rate ÷ proxy",
  "whole, CPU ÷ proxy",
  "streams, rate ÷ proxy",
  "streams, CPU ÷ proxy",
  "added p50 / p99, ms",
  "longest stall, ms",
  "idle / open streams, MB",
  "money",
];

/** The cells of agents whose CPU time has a column. */
const AGENT_CELLS = [
  "chat to chat",
  "messages to chat",
  "messages to Anthropic",
  "messages to Gemini",
  "messages to Converse",
  "chat to Anthropic, prompt_caching: auto",
  "chat to five routes",
];
const AGENT_HEADINGS = [
  "date",
  "commit",
  "Bun",
  "agents, chat to chat and streamed, rate ÷ proxy",
  ...AGENT_CELLS.map((name) => `${name}, CPU ms`),
  "longest stall, ms",
  "money",
];

/** Returns Markdown: the tables of each kind of machine, the newest run first. */
export function printHistory(lines: readonly KeptLine[]): string {
  const kinds = [...new Set(lines.map(({ machine }) => machineKind(machine)))];
  if (kinds.length === 0) return "No run has been kept yet.";
  return kinds.map((kind) => printKind(kind, lines)).join("\n\n");
}

function printKind(kind: string, lines: readonly KeptLine[]): string {
  const own = lines
    .filter(({ machine }) => machineKind(machine) === kind)
    .toSorted((a, b) => b.date.localeCompare(a.date));
  const tables = [
    { headings: HEADINGS, rows: own.filter(isGatewayLine).map(cellsOf) },
    { headings: AGENT_HEADINGS, rows: own.filter(isAgentsLine).map(agentCellsOf) },
  ];
  return [
    `### ${kind}`,
    ...tables
      .filter(({ rows }) => rows.length > 0)
      .map(({ headings, rows }) => printTable(headings, rows).join("\n")),
  ].join("\n\n");
}

/** Returns the lines of a Markdown table. */
export function printTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(headings), `|${"---|".repeat(headings.length)}`, ...rows.map(line)];
}

function cellsOf(line: HistoryLine): readonly string[] {
  const { date, commit, form, machine, throughput, steady, stall, memory, money } = line;
  return [
    date.slice(0, 10),
    `\`${printCommit(commit)}\``,
    line.isQuick ? `${printForm(form)}, quick` : printForm(form),
    machine.bun,
    pairOf(throughput, "whole", ({ ratio }) => ratio),
    pairOf(throughput, "whole", ({ cpuRatio }) => cpuRatio),
    pairOf(throughput, "stream", ({ ratio }) => ratio),
    pairOf(throughput, "stream", ({ cpuRatio }) => cpuRatio),
    `${steady.added.p50.toFixed(2)} / ${steady.added.p99.toFixed(2)}`,
    Math.max(stall.steadyMs, stall.bodiesMs).toFixed(0),
    `${memory.idle.gatewayMb.toFixed(0)} / ${memory.gateway.openMb.toFixed(0)}`,
    money.isRight ? "exact" : "WRONG",
  ];
}

function agentCellsOf({ date, commit, machine, agents, money }: AgentsLine): readonly string[] {
  const figureOf = (name: string, read: (cell: AgentsLine["agents"]["cells"][number]) => number) => {
    const cell = agents.cells.find((each) => each.name === name);
    return cell ? read(cell).toFixed(2) : "–";
  };
  const ratioOf = (name: string) => figureOf(name, ({ ratio }) => ratio);
  return [
    date.slice(0, 10),
    `\`${printCommit(commit)}\``,
    machine.bun,
    `${ratioOf("chat to chat")} / ${ratioOf("chat to chat, streamed")}`,
    ...AGENT_CELLS.map((name) => figureOf(name, ({ gateway }) => gateway.cpuUs / 1_000)),
    agents.stallMs.toFixed(0),
    money.isRight ? "exact" : "WRONG",
  ];
}

/** The values at 32 and 128 connections, as "0.35 / 0.45". */
function pairOf(cells: readonly HistoryCell[], kind: string, read: (cell: HistoryCell) => number): string {
  return [32, 128]
    .map((connections) => cells.find((cell) => cell.kind === kind && cell.connections === connections))
    .map((cell) => (cell ? read(cell).toFixed(2) : "–"))
    .join(" / ");
}
