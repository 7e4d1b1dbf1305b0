import type { Columns } from "../sqlite/columns.ts";

type Declarations = Readonly<Record<string, (t: Columns) => unknown>>;

type Declared<Given extends Declarations> = { readonly [Name in keyof Given]: ReturnType<Given[Name]> };

/** Declares tables for one dialect, by their names. */
export function declareTables<Given extends Declarations>(given: Given, columns: Columns): Declared<Given> {
  const tables = Object.entries(given).map(([name, declare]) => [name, declare(columns)]);
  // Safe because each name keeps its own table.
  return Object.fromEntries(tables) as Declared<Given>;
}
