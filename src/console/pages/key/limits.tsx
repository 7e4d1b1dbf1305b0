import { formatCount } from "../../format.ts";
import { Bar } from "../../parts/bar.tsx";
import { Icon } from "../../parts/icons.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import type { KeyPageData } from "../keys/queries.ts";
import styles from "./key.module.css";

type Limit = KeyPageData["limits"][number];

/** Limits that are shown at once; the others are behind a press. */
const SHOWN_MAX = 3;
const NAMES: Readonly<Record<Limit["limit"], string>> = {
  key_spending: "Spending limit of the key",
  key_requests: "Requests per minute of the key",
  key_tokens: "Tokens per minute of the key",
  key_concurrency: "Requests of the key at once",
  account_requests: "Requests per minute of the account",
  account_tokens: "Tokens per minute of the account",
  account_concurrency: "Requests of the account at once",
  account_spending: "Spending limit of the account",
  wallet: "Wallet",
};

/** What binds the key, tightest first, and what its next request would be refused for. */
export function BindingLimits({ shown }: { readonly shown: KeyPageData }) {
  const { limits } = shown;
  const others = limits.slice(SHOWN_MAX);
  return (
    <Panel title="What binds this key" note="The tightest limit comes first.">
      <div className={styles.stack}>
        <NextRequest shown={shown} />
        <LimitBars limits={limits.slice(0, SHOWN_MAX)} />
        {others.length > 0 && (
          <details className={styles.others}>
            <summary>
              {others.length} more {others.length === 1 ? "limit" : "limits"} with more room
            </summary>
            <LimitBars limits={others} />
          </details>
        )}
      </div>
    </Panel>
  );
}

function NextRequest({ shown: { next_refusal, bound_by } }: { readonly shown: KeyPageData }) {
  if (next_refusal) {
    return (
      <div className={styles.refused} role="status">
        <Icon name="refusal" size={20} />
        <div>
          <strong>The next request would be refused.</strong> {next_refusal.text}{" "}
          <code>{next_refusal.code}</code>
        </div>
      </div>
    );
  }
  return (
    <div className={styles.admitted} role="status">
      <Icon name="check" size={20} />
      <div>
        <strong>The next request would be admitted.</strong> {bound_by.text}
      </div>
    </div>
  );
}

function LimitBars({ limits }: { readonly limits: readonly Limit[] }) {
  return (
    <ul className={styles.limits}>
      {limits.map((limit) => (
        <li key={limit.limit} className={styles.limit}>
          <span className={styles.limitName}>{NAMES[limit.limit]}</span>
          <Bar
            share={limit.share}
            label={NAMES[limit.limit]}
            note={
              limit.resets_at && (
                <>
                  resets <Time at={limit.resets_at} as={limit.unit === "usd" ? "minute" : "relative"} />
                </>
              )
            }
          >
            <Amount of={limit} value={limit.used} /> of <Amount of={limit} value={limit.max} />
            {limit.unit !== "usd" && ` ${unitOf(limit)}`}
            {" · "}
            <Amount of={limit} value={limit.remaining} /> left
          </Bar>
        </li>
      ))}
    </ul>
  );
}

function Amount({ of: { unit }, value }: { readonly of: Limit; readonly value: string }) {
  return unit === "usd" ? <Money usd={value} /> : formatCount(Number(value));
}

function unitOf({ limit, unit }: Limit): string {
  return limit.endsWith("_concurrency") ? "running" : unit;
}
