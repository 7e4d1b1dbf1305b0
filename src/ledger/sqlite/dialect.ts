import type { Dialect } from "../queries/query.ts";

export const SQLITE: Dialect = {
  placeholder: (n) => `?${n}`,
  json: (column) => column,
  // JSON5 knows hexadecimal numbers, which SQL does not.
  idTimeMs: (column) => `(('0x' || substr(${column}, 1, 8) || substr(${column}, 10, 4)) ->> '$')`,
  elements: (json) => `json_each(${json})`,
  item: (n) => `value ->> ${n}`,
  // The table has no index by number; its rows lie in the order of time, and the newest are read first.
  transferOrder: "rowid",
};
