import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { formatCount, formatDuration } from "../../format.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Fact } from "../../parts/facts.tsx";
import { ErrorPanel } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Stat, Stats } from "../../parts/stat.tsx";
import { Time } from "../../parts/time.tsx";
import { type Health, healthQuery, type UpstreamHealth } from "../../queries/operator.ts";
import { RouteHealth } from "./route-health.tsx";
import { Upstreams } from "./upstreams.tsx";

const MIB = 1_048_576;
const DATABASES = { sqlite: "SQLite", postgres: "PostgreSQL" } as const;

/** How this gateway, its upstreams, its limiter and its ledger are. */
export function OperatorHealthPage() {
  const { data, error, refetch } = useQuery(healthQuery());
  return (
    <div className={styles.page}>
      <PageHeader
        title="Health"
        badges={data && <Verdict health={data} />}
        note="The process that answered this page. Refreshed every 5 seconds."
      />
      {error && !data ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : (
        <>
          <Stats label="This gateway">
            <Stat name="Version" value={data?.version} />
            <Stat name="Running for" value={data && formatDuration(data.uptime_s * 1_000)} />
            <Stat name="Memory" value={data && `${formatCount(Math.round(data.memory_bytes / MIB))} MiB`} />
            <Stat
              name="Gateways"
              value={data && formatCount(data.gateways)}
              note={data && `on one ${DATABASES[data.database]} database`}
            />
          </Stats>
          <Upstreams upstreams={data?.upstreams} />
          <RouteHealth />
          <div className={styles.columns}>
            <LedgerPanel health={data} />
            <DeliveryPanel health={data} />
            <LimiterPanel health={data} />
            <OutboxPanel health={data} />
          </div>
        </>
      )}
    </div>
  );
}

/** Shares of failed attempts of the last 5 minutes. */
const WARN_SHARE = 0.05;
const BAD_SHARE = 0.5;

function shareOf({ recent: { attempts, failed } }: UpstreamHealth): number {
  return attempts === 0 ? 0 : failed / attempts;
}

/** The one that fails most comes first. */
function byShare(one: UpstreamHealth, other: UpstreamHealth): number {
  return shareOf(other) - shareOf(one);
}

/** The worst of what is known, in a word. */
function Verdict({ health }: { readonly health: Health }) {
  const { upstreams, limiter, ledger, outbox, mail_server: mailServer } = health;
  // A half-open circuit has not recovered: it waits for the outcome of its probe.
  const open = upstreams.filter(({ circuit }) => circuit !== "closed").length;
  if (!ledger) return <Badge tone="bad">ledger unreachable</Badge>;
  if (limiter.mode === "denying") return <Badge tone="bad">limiter denies</Badge>;
  const failing = upstreams.filter(({ recent }) => recent.failed > 0).toSorted(byShare)[0];
  const isFailing = failing !== undefined && shareOf(failing) >= WARN_SHARE;
  if (open > 0) return <Badge tone="bad">{`${open} of ${upstreams.length} circuits open`}</Badge>;
  if (isFailing) {
    const { name, recent } = failing;
    const tone = shareOf(failing) >= BAD_SHARE ? "bad" : "warn";
    return <Badge tone={tone}>{`${name}: ${recent.failed} of ${recent.attempts} attempts failed`}</Badge>;
  }
  if (outbox.entries > 0) return <Badge tone="warn">settlements wait</Badge>;
  if (mailServer?.problem) return <Badge tone="warn">mails wait</Badge>;
  return <Badge tone="good">all well</Badge>;
}

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
function LedgerPanel({ health }: StoreProps) {
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
function LimiterPanel({ health }: StoreProps) {
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
function OutboxPanel({ health }: StoreProps) {
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

const MAIL_PROBLEMS = {
  login_refused: "The mail server refuses the login.",
  no_answer: "The mail server does not answer.",
} as const;

/** Mails and webhook calls that are ordered and not delivered, and whether the mail server takes mails. */
function DeliveryPanel({ health }: StoreProps) {
  const server = health?.mail_server;
  const problem = server?.problem;
  return (
    <Panel
      title="Mails and webhooks"
      note={server === null ? "Mails are printed on stderr: no mail server is set." : "Each has three tries."}
    >
      {problem && (
        <p className={styles.warning} role="status">
          {MAIL_PROBLEMS[problem]}
        </p>
      )}
      <Facts
        facts={[
          ["Mails waiting", health && printBacklog(health.mails)],
          ["Oldest mail", health && <Time at={health.mails?.oldest_at} as="relative" />],
          ["Webhooks waiting", health && printBacklog(health.webhooks)],
          ["Oldest webhook", health && <Time at={health.webhooks?.oldest_at} as="relative" />],
          ...(server
            ? [["Server checked", <Time key="at" at={server.checked_at} as="relative" />] as const]
            : []),
        ]}
      />
    </Panel>
  );
}

/** The number that waits; unknown while the database does not answer. */
function printBacklog(backlog: Health["mails"]): string {
  return backlog ? formatCount(backlog.entries) : "unknown";
}

function Facts({ facts }: { readonly facts: readonly (readonly [string, ReactNode | undefined])[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <Fact key={name} name={name}>
          {value}
        </Fact>
      ))}
    </dl>
  );
}
