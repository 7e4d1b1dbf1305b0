import type { MoneyResult } from "../money-check.ts";
import type { CapResult } from "./cap.ts";
import type { FailoverLatency } from "./failover-latency.ts";
import type { FailoverRate } from "./failover-rates.ts";
import type { FirstEventResult } from "./first-event.ts";
import type { ClientBurstResult, ClientCellResult, ClientFigures } from "./measure-clients.ts";
import { BURST, CONNECTIONS, FAILOVER_PER_SECOND } from "./plan.ts";

export interface UpstreamReport {
  readonly clients: readonly ClientCellResult[];
  readonly bursts: readonly ClientBurstResult[];
  readonly cap: CapResult;
  readonly firstEvent: readonly FirstEventResult[];
  readonly failoverLatency: readonly FailoverLatency[];
  readonly failoverRates: readonly FailoverRate[];
  readonly money: MoneyResult;
}

const LABEL_WIDTH = 38;
const WIDTH = 13;
const CLIENT_COLUMNS = [
  "client",
  "answers/s",
  "CPU us each",
  "by fetch",
  "p50 ms",
  "p99 ms",
  "peak MB",
  "sockets/call",
];

/** The whole report as text: figures without verdicts, save that of the money. */
export function printUpstreamReport(report: UpstreamReport): string {
  const { clients, bursts, cap, firstEvent, failoverLatency, failoverRates, money } = report;
  return [
    row("streams, to the first event", CLIENT_COLUMNS),
    ...clients.filter(({ kind }) => kind === "stream").flatMap(printCell),
    row("whole answers, to the end", CLIENT_COLUMNS),
    ...clients.filter(({ kind }) => kind === "whole").flatMap(printCell),
    ...bursts.flatMap(printBursts),
    "",
    `of ${cap.asked} streams at a time open: fetch told nothing ${cap.untold}, told ${cap.told}, ` +
      `a gateway told nothing ${cap.gateway}`,
    "",
    row("to the first event", [
      "streams/s",
      "proxy p50",
      "p99",
      "gateway p50",
      "p99",
      "added p50",
      "p99",
      "late p99",
    ]),
    ...firstEvent.map(printFirstEvent),
    "",
    row(`${FAILOVER_PER_SECOND}/s, first route`, ["p50 ms", "p99 ms", "added p50", "p99"]),
    ...failoverLatency.map(({ label, latency, added }) =>
      row(label, [latency.p50, latency.p99, added.p50, added.p99].map(ms)),
    ),
    "",
    row(`${CONNECTIONS} connections, first route fails`, [
      "answers/s",
      "p50 ms",
      "p99 ms",
      "by healthy",
      "failed calls",
    ]),
    ...failoverRates.map(({ name, perSecond, latency, ratio, failedShare }) =>
      row(name, [perSecond.toFixed(0), ms(latency.p50), ms(latency.p99), ms(ratio), failedShare.toFixed(4)]),
    ),
    "",
    printMoney(money),
  ].join("\n");
}

function printCell({ concurrent, tls, clients }: ClientCellResult): string[] {
  const name = `${concurrent} at a time${tls ? ", TLS" : ""}`;
  return clients.map((figures) => row(name, clientCells(figures)));
}

function printBursts({ tls, clients }: ClientBurstResult): string[] {
  const name = `${BURST.size} at once, then ${BURST.pauseMs} ms none${tls ? ", TLS" : ""}`;
  return clients.map((figures) => row(name, clientCells(figures)));
}

function clientCells(figures: ClientFigures): string[] {
  const { client, perSecond, cpuUs, cpuByFetch, peakMb, socketsEach } = figures;
  return [
    client,
    perSecond.toFixed(0),
    cpuUs.toFixed(0),
    cpuByFetch.toFixed(2),
    ms(figures.ms.p50),
    ms(figures.ms.p99),
    peakMb.toFixed(0),
    socketsEach.toFixed(3),
  ];
}

function printFirstEvent({ name, perSecond, proxy, gateway, added, late }: FirstEventResult): string {
  const times = [proxy.p50, proxy.p99, gateway.p50, gateway.p99, added.p50, added.p99, late.p99];
  return row(name, [`${perSecond}`, ...times.map(ms)]);
}

function printMoney({
  requests,
  chargedUsd,
  expectedUsd,
  heldUsd,
  auditIsClean,
  isRight,
}: MoneyResult): string {
  return (
    `money: ${requests} requests charged ${chargedUsd} USD, expected ${expectedUsd}; on hold ${heldUsd}; ` +
    `audit ${auditIsClean ? "clean" : "NOT CLEAN"}: ${isRight ? "ok" : "SHORT"}`
  );
}

function row(label: string, cells: readonly string[]): string {
  return label.padEnd(LABEL_WIDTH) + cells.map((cell) => cell.padStart(WIDTH)).join("");
}

function ms(value: number): string {
  return value.toFixed(2);
}
