import type { Dialect } from "../queries/query.ts";

export const POSTGRES: Dialect = {
  placeholder: (n) => `$${n}`,
  // The driver would parse it, and print what it parsed.
  json: (column) => `${column}::text`,
  idTimeMs: (column) =>
    `('x' || substr(${column}::text, 1, 8) || substr(${column}::text, 10, 4))::bit(48)::bigint`,
  elements: (json) => `json_array_elements(${json}::text::json)`,
  item: (n, type) => (type === "integer" ? `(value ->> ${n})::bigint` : `value ->> ${n}`),
  transferOrder: "seq",
};
