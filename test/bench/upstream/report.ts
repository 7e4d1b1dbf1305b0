import type { MoneyResult } from "../contestants.ts";
import { printMoney, tablePrinter, twoDecimals } from "../report-table.ts";
import type { FailoverLatency, FailoverRate } from "./failover.ts";
import type { ClientBurstResult, ClientCellResult, ClientFigures } from "./measure-clients.ts";
import type { CapResult, FirstEventResult } from "./measure-gateway.ts";
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

const row = tablePrinter(38, 13);
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

/** Prints the report: results without aims, except for the money. */
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
      row(label, [latency.p50, latency.p99, added.p50, added.p99].map(twoDecimals)),
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
      row(name, [
        perSecond.toFixed(0),
        twoDecimals(latency.p50),
        twoDecimals(latency.p99),
        twoDecimals(ratio),
        failedShare.toFixed(4),
      ]),
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
    twoDecimals(figures.ms.p50),
    twoDecimals(figures.ms.p99),
    peakMb.toFixed(0),
    socketsEach.toFixed(3),
  ];
}

function printFirstEvent({ name, perSecond, proxy, gateway, added, late }: FirstEventResult): string {
  const times = [proxy.p50, proxy.p99, gateway.p50, gateway.p99, added.p50, added.p99, late.p99];
  return row(name, [`${perSecond}`, ...times.map(twoDecimals)]);
}
