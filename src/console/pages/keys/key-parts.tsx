import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { formatCompact, formatCount, formatMs, localise } from "../../format.ts";
import { Badge, OutcomeBadge, type Tone } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import type { Key, ListedKey } from "../../queries/keys.ts";
import { MOVING_MS } from "../../queries/overview.ts";
import { type RequestRow, requestsQuery } from "../../queries/requests.ts";
import { describePeriod } from "../../spending-limits.ts";
import styles from "./keys.module.css";
import { LimitBar, shortNameOf } from "./limit-bar.tsx";

const TONES: Readonly<Record<Key["state"], Tone>> = { active: "good", expired: "warn", revoked: "bad" };

export function KeyState({ state }: Pick<Key, "state">) {
  return <Badge tone={TONES[state]}>{state}</Badge>;
}

/** The most that a key may spend, and in which period. */
export function SpendingLimit({ spending_limit: limit }: Pick<Key, "spending_limit">) {
  if (!limit) return <span className={styles.quiet}>none</span>;
  return (
    <span>
      <Money usd={limit.amount_usd} /> {describePeriod(limit.period)}
    </span>
  );
}

/** Whether the next request of a key would be admitted, and the limit that binds it first. */
export function NextRequest({ state, next_refusal: refusal, bound_by }: ListedKey) {
  return (
    <div className={styles.next}>
      {refusal ? (
        <span className={styles.named} title={localise(refusal.text)}>
          <Badge tone="bad">refused</Badge> {refusal.code.replaceAll("_", " ")}
        </span>
      ) : (
        <span className={styles.named}>
          <Badge tone="good">admitted</Badge>
          <span className={styles.hint}>{shortNameOf(bound_by)}</span>
        </span>
      )}
      {state === "active" && <LimitBar limit={bound_by} isShort />}
    </div>
  );
}

interface Rate {
  readonly used: number;
  readonly limit: number;
}

/** What a key has used of this minute's limits; all of them are in the title. */
export function Rates({ requests_per_minute, tokens_per_minute, concurrent_requests }: Key) {
  const rates = [
    ["requests", requests_per_minute, formatCount],
    ["tokens", tokens_per_minute, formatCompact],
    ["running", concurrent_requests, formatCount],
  ] as const;
  const limited = rates.flatMap(([unit, rate, print]) => (rate ? [{ unit, rate, print }] : []));
  if (limited.length === 0) return <span className={styles.quiet}>no limit</span>;
  const print = ({ unit, rate, print: count }: { unit: string; rate: Rate; print: typeof formatCount }) =>
    `${count(rate.used)} of ${count(rate.limit)} ${unit}`;
  const used = limited.filter(({ rate }) => rate.used > 0);
  return (
    <div className={styles.rates} title={limited.map(print).join(", ")}>
      {used.length === 0 && <span className={styles.quiet}>idle</span>}
      {used.map((each) => (
        <span key={each.unit}>{print(each)}</span>
      ))}
    </div>
  );
}

const SHOWN_MAX = 8;

const COLUMNS: readonly Column<RequestRow>[] = [
  { id: "at", header: "Time", isNarrow: true, cell: ({ at }) => <Time at={at} as="relative" /> },
  { id: "model", header: "Model", cell: ({ model }) => model },
  {
    id: "outcome",
    header: "Outcome",
    cell: ({ state, outcome }) => <OutcomeBadge state={state} outcome={outcome} />,
  },
  { id: "total", header: "Total", align: "end", cell: ({ total_ms }) => formatMs(total_ms) },
  {
    id: "charge",
    header: "Charge",
    align: "end",
    cell: ({ charged_usd }) => <Money usd={charged_usd} isAligned />,
  },
];

/** The newest requests of a key. */
export function KeyRequests({ account, apiKey }: { readonly account: string; readonly apiKey: string }) {
  const list = useQuery({
    ...requestsQuery(account, { key: apiKey }),
    refetchInterval: MOVING_MS,
  });
  return (
    <Panel
      title="Latest requests"
      isFlush
      actions={
        <>
          <Link to="/accounts/$account/refusals" params={{ account }} search={{ key: apiKey }}>
            Refusals
          </Link>
          <Link to="/accounts/$account/requests" params={{ account }} search={{ key: apiKey }}>
            All requests
          </Link>
        </>
      }
    >
      <DataTable
        caption="Latest requests of this key"
        columns={COLUMNS}
        rows={list.data?.items.slice(0, SHOWN_MAX)}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({
          to: "/accounts/$account/requests/$request",
          params: { account, request: id },
        })}
        empty={
          <Empty icon="requests" title="No request yet">
            Take a snippet: the first request shows here.
          </Empty>
        }
        query={list}
      />
    </Panel>
  );
}
