import { formatCount, formatMs, formatPercent } from "../../format.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Money } from "../../parts/money.tsx";

interface GroupSums {
  readonly group: string | null;
  readonly group_name: string | null;
  readonly requests: number;
  readonly errors: number;
  readonly refused: number;
  readonly cost_usd: string;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
  readonly first_output: { readonly p50: number } | null;
}

interface GroupsProps {
  /** What the rows are: "account". */
  readonly name: string;
  /** `undefined` while loading. */
  readonly groups: readonly GroupSums[] | undefined;
}

/** One row of sums for each group. */
export function Groups({ name, groups }: GroupsProps) {
  return (
    <DataTable
      caption={`Usage by ${name}`}
      columns={[{ id: "group", header: capital(name), cell: nameOf }, ...COLUMNS]}
      rows={groups}
      rowKey={({ group }) => group ?? ""}
      empty={<Empty icon="usage" title="No requests in this range" />}
    />
  );
}

const COLUMNS: readonly Column<GroupSums>[] = [
  { id: "cost", header: "Cost", align: "end", cell: ({ cost_usd }) => <Money usd={cost_usd} /> },
  { id: "requests", header: "Requests", align: "end", cell: ({ requests }) => formatCount(requests) },
  {
    id: "errors",
    header: "Errors",
    align: "end",
    cell: ({ errors, requests }) =>
      errors === 0 ? "0" : `${formatCount(errors)} (${formatPercent(errors / Math.max(1, requests))})`,
  },
  { id: "refused", header: "Refused", align: "end", cell: ({ refused }) => formatCount(refused) },
  {
    id: "input",
    header: "Tokens in",
    align: "end",
    cell: ({ input_tokens, cached_input_tokens, cache_write_tokens }) =>
      formatCount(input_tokens + cached_input_tokens + cache_write_tokens),
  },
  {
    id: "output",
    header: "Tokens out",
    align: "end",
    cell: ({ output_tokens }) => formatCount(output_tokens),
  },
  {
    id: "first",
    header: "First output",
    align: "end",
    cell: ({ first_output }) => formatMs(first_output?.p50 ?? null),
  },
];

function nameOf({ group, group_name }: GroupSums): string {
  return group_name ?? group ?? "none";
}

function capital(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}
