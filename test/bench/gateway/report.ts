import type { MoneyResult } from "../contestants.ts";
import { type Form, ON_SQLITE, printForm, WITHOUT_REDIS } from "../form.ts";
import type { Percentiles } from "../measurements.ts";
import { leastOf, mostOf, printMoney, tablePrinter, twoDecimals, verdict } from "../report-table.ts";
import type { MemoryResult, SteadyResult } from "./bench-gateway.ts";
import { ADDED_MS_MAX, aimsOf, IDLE_MB_MAX, OPEN_STREAMS_MB_MAX, STALL_MS_MAX } from "./plan.ts";
import type { StallResult } from "./stall.ts";
import type { CellResult } from "./throughput.ts";

export interface Report {
  readonly form: Form;
  readonly throughput: readonly CellResult[];
  readonly steady: SteadyResult;
  readonly stall: StallResult;
  readonly memory: MemoryResult;
  readonly money: MoneyResult;
}

const row = tablePrinter(0, 13);

/** One column of the table. A cell without a value is "-". */
interface Column {
  readonly heading: string;
  print(cell: CellResult, form: Form): string | undefined;
}

const COLUMNS: readonly Column[] = [
  { heading: "answers", print: ({ kind }) => kind },
  { heading: "conns", print: ({ connections }) => `${connections}` },
  { heading: "rate ÷ proxy", print: ({ ratio }) => twoDecimals(ratio) },
  { heading: "aim", print: (cell, form) => leastOf(cell.ratio, aimsOf(form, cell).ratio) },
  { heading: "CPU ÷ proxy", print: ({ cpuRatio }) => twoDecimals(cpuRatio) },
  { heading: "aim", print: (cell, form) => mostOf(cell.cpuRatio, aimsOf(form, cell).cpuRatio) },
  { heading: "gateway/s", print: ({ gateway }) => gateway.perSecond.toFixed(0) },
  { heading: "p50 ms", print: ({ gateway }) => twoDecimals(gateway.p50Ms) },
  { heading: "p99 ms", print: ({ gateway }) => twoDecimals(gateway.p99Ms) },
  { heading: "CPU µs", print: ({ gateway }) => gateway.cpuUs.toFixed(0) },
  { heading: "proxy/s", print: ({ proxy }) => proxy.perSecond.toFixed(0) },
  { heading: "p50 ms", print: ({ proxy }) => twoDecimals(proxy.p50Ms) },
  { heading: "p99 ms", print: ({ proxy }) => twoDecimals(proxy.p99Ms) },
  { heading: "CPU µs", print: ({ proxy }) => proxy.cpuUs.toFixed(0) },
  { heading: "upstream/s", print: ({ ceilingPerSecond }) => ceilingPerSecond.toFixed(0) },
];

const REDIS_COLUMNS: readonly Column[] = [
  { heading: "÷ no Redis", print: (cell) => besideOf(cell, WITHOUT_REDIS)?.ratio.toFixed(2) },
  {
    heading: "aim",
    print: (cell, form) => leastOf(besideOf(cell, WITHOUT_REDIS)?.ratio, aimsOf(form, cell).withoutRedis),
  },
  { heading: "CPU", print: (cell) => besideOf(cell, WITHOUT_REDIS)?.cpuRatio.toFixed(2) },
  { heading: "Redis µs", print: ({ serverCpuUs }) => serverCpuUs.redis?.toFixed(0) },
];

const POSTGRES_COLUMNS: readonly Column[] = [
  { heading: "÷ SQLite", print: (cell) => besideOf(cell, ON_SQLITE)?.ratio.toFixed(2) },
  { heading: "CPU", print: (cell) => besideOf(cell, ON_SQLITE)?.cpuRatio.toFixed(2) },
  { heading: "Postgres µs", print: ({ serverCpuUs }) => serverCpuUs.postgres?.toFixed(0) },
];

/** Prints the report. Times are in milliseconds, CPU time per answer in microseconds. */
export function printReport({ form, throughput, steady, stall, memory, money }: Report): string {
  const columns = [
    ...COLUMNS,
    ...(form.hasRedis ? REDIS_COLUMNS : []),
    ...(form.database === "postgres" ? POSTGRES_COLUMNS : []),
  ];
  return [
    printForm(form),
    row(
      "",
      columns.map(({ heading }) => heading),
    ),
    ...throughput.map((cell) =>
      row(
        "",
        columns.map(({ print }) => print(cell, form) ?? "-"),
      ),
    ),
    "",
    ...printSteady(steady, ADDED_MS_MAX[form.database]),
    "",
    printStall(stall, steady),
    ...printMemory(memory),
    printMoney(money),
  ].join("\n");
}

function besideOf({ beside }: CellResult, label: string) {
  return beside.find((each) => each.label === label);
}

function printSteady({ perSecond, proxy, gateway, added, late }: SteadyResult, aims: Percentiles): string[] {
  const isReached = added.p50 < aims.p50 && added.p99 < aims.p99;
  return [
    `steady ${perSecond} requests/s, from when each was due (the generator was late by ${twoDecimals(late.p50)} / ${twoDecimals(late.p99)}):`,
    `  p50: proxy ${twoDecimals(proxy.p50)}, gateway ${twoDecimals(gateway.p50)}, added ${twoDecimals(added.p50)} ms`,
    `  p99: proxy ${twoDecimals(proxy.p99)}, gateway ${twoDecimals(gateway.p99)}, added ${twoDecimals(added.p99)} ms`,
    `  aim under ${aims.p50} and ${aims.p99} ms added: ${verdict(isReached)}`,
  ];
}

function printStall({ steadyMs, bodiesMs }: StallResult, { perSecond }: SteadyResult): string {
  return (
    `longest stall of the event loop: ${steadyMs.toFixed(0)} ms at ${perSecond} requests/s, ` +
    `${bodiesMs.toFixed(0)} ms with costly bodies; ` +
    `aim at most ${STALL_MS_MAX} ms: ${verdict(Math.max(steadyMs, bodiesMs) <= STALL_MS_MAX)}`
  );
}

function printMemory({ idle, streams, proxy, gateway }: MemoryResult): string[] {
  return [
    `idle after the start: gateway ${mb(idle.gatewayMb)}, proxy ${mb(idle.proxyMb)}; ` +
      `aim at most ${IDLE_MB_MAX} MB: ${verdict(idle.gatewayMb <= IDLE_MB_MAX)}`,
    `${streams} open streams: gateway ${mb(gateway.openMb)} (before ${mb(gateway.beforeMb)}), ` +
      `proxy ${mb(proxy.openMb)} (before ${mb(proxy.beforeMb)}); ` +
      `aim at most ${OPEN_STREAMS_MB_MAX} MB: ${verdict(gateway.openMb <= OPEN_STREAMS_MB_MAX)}`,
  ];
}

function mb(value: number): string {
  return `${value.toFixed(0)} MB`;
}
