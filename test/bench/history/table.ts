import { printForm } from "../form.ts";
import { type HistoryCell, type HistoryLine, machineKind, printCommit } from "./line.ts";

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

/** Returns Markdown: one table for each kind of machine, the newest run first. */
export function printHistory(lines: readonly HistoryLine[]): string {
  const kinds = [...new Set(lines.map(({ machine }) => machineKind(machine)))];
  if (kinds.length === 0) return "No run has been kept yet.";
  return kinds.map((kind) => printKind(kind, lines)).join("\n\n");
}

function printKind(kind: string, lines: readonly HistoryLine[]): string {
  const own = lines.filter(({ machine }) => machineKind(machine) === kind);
  return [
    `### ${kind}`,
    "",
    ...printTable(
      HEADINGS,
      own.toSorted((a, b) => b.date.localeCompare(a.date)).map((line) => cellsOf(line)),
    ),
  ].join("\n");
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

/** The values at 32 and 128 connections, as "0.35 / 0.45". */
function pairOf(cells: readonly HistoryCell[], kind: string, read: (cell: HistoryCell) => number): string {
  return [32, 128]
    .map((connections) => cells.find((cell) => cell.kind === kind && cell.connections === connections))
    .map((cell) => (cell ? read(cell).toFixed(2) : "–"))
    .join(" / ");
}
