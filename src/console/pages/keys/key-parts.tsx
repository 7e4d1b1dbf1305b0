import { formatCompact, formatCount, readUsd } from "../../format.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Bar } from "../../parts/bar.tsx";
import { Money } from "../../parts/money.tsx";
import { Time } from "../../parts/time.tsx";
import styles from "./keys.module.css";
import type { Key } from "./queries.ts";

const TONES: Readonly<Record<Key["state"], Tone>> = { active: "good", expired: "warn", revoked: "bad" };
export const PERIOD_TEXTS = { total: "in total", day: "per day", week: "per week", month: "per month" };

export function KeyState({ state }: Pick<Key, "state">) {
  return <Badge tone={TONES[state]}>{state}</Badge>;
}

/** Used and held money of the period, and when it begins again. */
export function SpendingBar({ name, spending_limit: limit }: Pick<Key, "name" | "spending_limit">) {
  if (!limit) return <span className={styles.quiet}>none</span>;
  return (
    <div className={styles.limit}>
      <Bar
        share={spentShare(limit)}
        label={`Spending limit of ${name}`}
        note={
          limit.resets_at && (
            <>
              resets <Time at={limit.resets_at} as="date" />
            </>
          )
        }
      >
        <Money usd={limit.used_usd} /> of <Money usd={limit.amount_usd} /> {PERIOD_TEXTS[limit.period]}
      </Bar>
    </div>
  );
}

/** What the limits of the running minute have left. */
export function Rates({ requests_per_minute, tokens_per_minute, concurrent_requests }: Key) {
  return (
    <div className={styles.rates}>
      {requests_per_minute && (
        <span>
          {formatCount(requests_per_minute.used)} of {formatCount(requests_per_minute.limit)} requests
        </span>
      )}
      {tokens_per_minute && (
        <span title={`${formatCount(tokens_per_minute.used)} of ${formatCount(tokens_per_minute.limit)}`}>
          {formatCompact(tokens_per_minute.used)} of {formatCompact(tokens_per_minute.limit)} tokens
        </span>
      )}
      {concurrent_requests && (
        <span>
          {formatCount(concurrent_requests.used)} of {formatCount(concurrent_requests.limit)} running
        </span>
      )}
      {!requests_per_minute && !tokens_per_minute && !concurrent_requests && (
        <span className={styles.quiet}>no limit</span>
      )}
    </div>
  );
}

/** The share of a spending limit that is used or held, from 0. */
function spentShare({ amount_usd, remaining_usd }: NonNullable<Key["spending_limit"]>): number {
  const amount = readUsd(amount_usd);
  if (amount === 0n) return 1;
  return Number(amount - readUsd(remaining_usd)) / Number(amount);
}
