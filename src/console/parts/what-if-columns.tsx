import { printUsdChange } from "../compare.ts";
import { formatCount, readUsd } from "../format.ts";
import type { WhatIfRow } from "../queries/usage.ts";
import type { Column } from "./data-table.tsx";
import { Money } from "./money.tsx";

/** What keys were charged, and what the same tokens cost at the prices of another model. */
export const WHAT_IF_COLUMNS: readonly Column<WhatIfRow>[] = [
  {
    id: "key",
    order: ({ key_name, key_id }) => key_name ?? key_id,
    header: "Key",
    cell: ({ key_name, key_id }) => key_name ?? key_id,
  },
  {
    id: "requests",
    order: ({ requests }) => requests,
    header: "Requests",
    align: "end",
    cell: ({ requests }) => formatCount(requests),
  },
  {
    id: "actual",
    order: ({ actual_usd }) => readUsd(actual_usd),
    header: "Charged",
    align: "end",
    cell: ({ actual_usd }) => <Money usd={actual_usd} />,
  },
  {
    id: "other",
    order: ({ what_if_usd }) => readUsd(what_if_usd),
    header: "With that model",
    align: "end",
    cell: ({ what_if_usd }) => <Money usd={what_if_usd} />,
  },
  {
    id: "change",
    header: "Change",
    align: "end",
    cell: ({ actual_usd, what_if_usd }) => printUsdChange(what_if_usd, actual_usd) ?? "–",
  },
];
