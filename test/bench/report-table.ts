import type { MoneyResult } from "./contestants.ts";

/** Prints the rows of a table: a label on the left, and cells that end at fixed columns. */
export function tablePrinter(labelWidth: number, cellWidth: number) {
  return (label: string, cells: readonly string[]): string =>
    label.padEnd(labelWidth) + cells.map((cell) => cell.padStart(cellWidth)).join("");
}

/** "ok" for an aim that is reached, "SHORT" for one that is not. */
export function verdict(isReached: boolean): string {
  return isReached ? "ok" : "SHORT";
}

/** A lower bound and whether a value reaches it. */
export function atLeast(value: number, min: number): string {
  return `${min} ${verdict(value >= min)}`;
}

/** An exclusive upper bound and whether a value stays below it. */
export function below(value: number, max: number): string {
  return `${max} ${verdict(value < max)}`;
}

/** A bound, and a further one for later. */
export interface Aim {
  readonly aim: number;
  readonly beyond?: number;
}

/** A lower bound: "0.35 SHORT", "0.35 ok", or "0.5 beyond" when the further aim is reached. */
export function leastOf(value: number | undefined, aim: Aim | undefined): string | undefined {
  return value === undefined ? undefined : printAim(aim, (bound) => value >= bound);
}

/** An upper bound, printed in the same way. */
export function mostOf(value: number, aim: Aim | undefined): string | undefined {
  return printAim(aim, (bound) => value <= bound);
}

function printAim(aim: Aim | undefined, isReached: (bound: number) => boolean): string | undefined {
  if (!aim) return undefined;
  if (aim.beyond !== undefined && isReached(aim.beyond)) return `${aim.beyond} beyond`;
  return `${aim.aim} ${verdict(isReached(aim.aim))}`;
}

/** Two decimals, for milliseconds and ratios. */
export function twoDecimals(value: number): string {
  return value.toFixed(2);
}

/** The comparison of charged and expected money, in one line. */
export function printMoney(money: MoneyResult): string {
  return (
    `money: ${money.requests} requests charged ${money.chargedUsd} USD, expected ${money.expectedUsd}; ` +
    `on hold ${money.heldUsd}; audit ${money.auditIsClean ? "clean" : "NOT CLEAN"}: ${verdict(money.isRight)}`
  );
}
