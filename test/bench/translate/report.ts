import { atLeast, tablePrinter, twoDecimals, verdict } from "../report-table.ts";
import type { CellResult } from "./bench-translate.ts";
import type { PureResult } from "./codec-cost.ts";
import { EVENT_US_MAX, RATIO_MIN } from "./plan.ts";

export interface TranslateReport {
  readonly pure: readonly PureResult[];
  readonly cells: readonly CellResult[];
  readonly money: {
    readonly requests: number;
    readonly chargedUsd: string;
    readonly expectedUsd: string;
    readonly isRight: boolean;
  };
}

const row = tablePrinter(48, 14);

/**
 * Prints the report. "own" is the client with an upstream of its own format; of a client that has one, it is the
 * form that it is measured against. On a busy machine, trust the ratio by CPU time.
 */
export function printTranslateReport({ pure, cells, money }: TranslateReport): string {
  return [
    row("by itself", ["us an event", "own", "aim"]),
    ...pure.map((result) =>
      row(wayOf(result), [
        twoDecimals(result.eventUs),
        twoDecimals(result.ownEventUs),
        atMost(result.eventUs, EVENT_US_MAX),
      ]),
    ),
    "",
    row("requests by themselves", ["bytes", "us a KB", "own"]),
    ...pure.flatMap((result) =>
      result.requests.map(({ size, bytes, kbUs, ownKbUs }) =>
        row(`${wayOf(result)}, ${size}`, [`${bytes}`, twoDecimals(kbUs), twoDecimals(ownKbUs)]),
      ),
    ),
    "",
    row("through a gateway", ["own/s", "CPU us", "answers/s", "CPU us", "ratio", "by CPU", "aim"]),
    ...cells.map((cell) =>
      row(
        `${wayOf(cell)}${cell.beside ? ` beside ${cell.beside}` : ""}, ${cell.size}, ${cell.stream ? "streamed" : "whole"}`,
        [
          cell.own.perSecond.toFixed(0),
          cell.own.cpuUs.toFixed(0),
          cell.other.perSecond.toFixed(0),
          cell.other.cpuUs.toFixed(0),
          cell.ratio.toFixed(2),
          cell.ratioByCpu.toFixed(2),
          atLeast(cell.ratio, RATIO_MIN),
        ],
      ),
    ),
    "",
    `money: ${money.requests} requests charged ${money.chargedUsd} USD, expected ${money.expectedUsd}: ${verdict(money.isRight)}`,
  ].join("\n");
}

function wayOf({ client, upstream }: { readonly client: string; readonly upstream: string }): string {
  return `${client} to ${upstream}`;
}

function atMost(value: number, most: number): string {
  return `${most} ${verdict(value <= most)}`;
}
