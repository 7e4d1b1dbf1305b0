import type { ReactNode } from "react";
import { formatCount } from "../../format.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import type { Health } from "./queries.ts";

interface StoreProps {
  /** `undefined` while loading. */
  readonly health: Health | undefined;
}

interface LimiterState {
  readonly tone: Tone;
  readonly text: string;
  readonly note: string;
}

/** Counting alone is a fault only where others count too, or where Redis should. */
function judgeLimiter({ limiter: { mode, backend }, gateways }: Health): LimiterState {
  if (mode === "shared") return { tone: "good", text: "shared", note: "All gateways count together." };
  if (mode === "denying") {
    return { tone: "bad", text: "denying", note: "Redis does not answer; limited requests are refused." };
  }
  if (backend === "redis") {
    return { tone: "warn", text: "local", note: "Redis does not answer; this gateway counts alone." };
  }
  if (gateways === 1) return { tone: "good", text: "local", note: "The only gateway counts for itself." };
  return { tone: "warn", text: "local", note: "Each gateway counts alone: limits hold per gateway." };
}

/** Running holds of the ledger, and how far its roll-ups are. */
export function LedgerPanel({ health }: StoreProps) {
  const ledger = health?.ledger;
  return (
    <Panel
      title="Ledger"
      note={ledger && (ledger.mode === "local" ? "Inside this process." : "Another process.")}
    >
      {ledger === null && <p>The ledger does not answer. Requests are refused until it does.</p>}
      {ledger !== null && (
        <Facts
          facts={[
            ["Running holds", ledger && formatCount(ledger.open_holds)],
            ["Held by them", ledger && <Money usd={ledger.held_usd} />],
            ["Oldest hold", ledger && <Time at={ledger.oldest_hold_at} as="relative" />],
            ["Rolled up to", ledger && <Time at={ledger.roll_up_closed_to} />],
            ["Stale hours", ledger && <StaleHours {...ledger} />],
          ]}
        />
      )}
    </Panel>
  );
}

function StaleHours({ stale_hours, is_backfilling }: NonNullable<Health["ledger"]>) {
  return (
    <span className={styles.line}>
      {formatCount(stale_hours)}
      {is_backfilling && <Badge tone="info">backfilling</Badge>}
    </span>
  );
}

/** Where requests, tokens and concurrency are counted. */
export function LimiterPanel({ health }: StoreProps) {
  const limiter = health?.limiter;
  const mode = health && judgeLimiter(health);
  return (
    <Panel title="Limiter" note={mode?.note}>
      <Facts
        facts={[
          ["Mode", mode && <Badge tone={mode.tone}>{mode.text}</Badge>],
          ["Counts in", limiter && (limiter.backend === "redis" ? "Redis" : "memory")],
        ]}
      />
    </Panel>
  );
}

/** Settlements that the ledger has not yet taken. */
export function OutboxPanel({ health }: StoreProps) {
  const outbox = health?.outbox;
  return (
    <Panel title="Settlement outbox" note="Charges on disk that the ledger has not yet taken.">
      <Facts
        facts={[
          ["Waiting", outbox && formatCount(outbox.entries)],
          ["Oldest", outbox && <Time at={outbox.oldest_at} as="relative" />],
        ]}
      />
    </Panel>
  );
}

function Facts({ facts }: { readonly facts: readonly (readonly [string, ReactNode | undefined])[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name} className={styles.fact}>
          <dt>{name}</dt>
          <dd>{value === undefined ? <Skeleton /> : value}</dd>
        </div>
      ))}
    </dl>
  );
}
