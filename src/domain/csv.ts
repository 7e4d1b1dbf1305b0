/** A value of a table. */
export type Cell = string | number | null;

/** Characters at which a spreadsheet takes a cell for a formula, also after white space. */
const FORMULA = /^\s*[=+\-@\t\r\n＝＋－＠]/;
const AMOUNT = /^-?\d+(\.\d+)?$/;
const QUOTED = /[",\r\n]/;

/** Prints a table as CSV (RFC 4180) with a first row of names. */
export function printCsv(names: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [names, ...rows].map(printCsvRow).join("");
}

/**
 * Prints one row with its line end. A text that a spreadsheet would run as a formula gets an apostrophe in
 * front; numbers and decimal amounts stay as they are.
 */
export function printCsvRow(cells: readonly Cell[]): string {
  return `${cells.map(printCell).join(",")}\r\n`;
}

function printCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number" || AMOUNT.test(cell)) return String(cell);
  const safe = FORMULA.test(cell) ? `'${cell}` : cell;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
