import { EVENT_US_MAX, RATIO_MIN } from "./plan.ts";
import type { PureResult } from "./reading-and-printing.ts";
import type { CellResult } from "./throughput.ts";

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

const LABEL_WIDTH = 40;
const WIDTH = 14;

/**
 * The whole report as text. "own" is the same client with an upstream of its own format. On a busy machine the
 * ratio by CPU time is the one to go by.
 */
export function printTranslateReport({ pure, cells, money }: TranslateReport): string {
  return [
    row("by itself", ["us an event", "own", "aim"]),
    ...pure.map((result) =>
      row(wayOf(result), [us(result.eventUs), us(result.ownEventUs), atMost(result.eventUs, EVENT_US_MAX)]),
    ),
    "",
    row("requests by themselves", ["bytes", "us a KB", "own"]),
    ...pure.flatMap((result) =>
      result.requests.map(({ size, bytes, kbUs, ownKbUs }) =>
        row(`${wayOf(result)}, ${size}`, [`${bytes}`, us(kbUs), us(ownKbUs)]),
      ),
    ),
    "",
    row("through a gateway", ["own/s", "CPU us", "answers/s", "CPU us", "ratio", "by CPU", "aim"]),
    ...cells.map((cell) =>
      row(`${wayOf(cell)}, ${cell.size}, ${cell.stream ? "streamed" : "whole"}`, [
        cell.own.perSecond.toFixed(0),
        cell.own.cpuUs.toFixed(0),
        cell.other.perSecond.toFixed(0),
        cell.other.cpuUs.toFixed(0),
        cell.ratio.toFixed(2),
        cell.ratioByCpu.toFixed(2),
        `${RATIO_MIN} ${verdict(cell.ratio >= RATIO_MIN)}`,
      ]),
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

function verdict(isReached: boolean): string {
  return isReached ? "ok" : "SHORT";
}

function us(value: number): string {
  return value.toFixed(2);
}

function row(label: string, cells: readonly string[]): string {
  return label.padEnd(LABEL_WIDTH) + cells.map((cell) => cell.padStart(WIDTH)).join("");
}
