import { useQuery } from "@tanstack/react-query";
import { formatCount, formatDuration } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import styles from "../../parts/stack.module.css";
import { Stat, Stats } from "../../parts/stat.tsx";
import { type Health, healthQuery, type UpstreamHealth } from "./queries.ts";
import { DeliveryPanel, LedgerPanel, LimiterPanel, OutboxPanel } from "./stores.tsx";
import { Upstreams } from "./upstreams.tsx";

const MIB = 1_048_576;
const DATABASES = { sqlite: "SQLite", postgres: "PostgreSQL" } as const;

/** How this gateway, its upstreams, its limiter and its ledger are. */
export function OperatorHealthPage() {
  const { data, error, refetch } = useQuery(healthQuery);
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
          <div className={styles.columns}>
            <LedgerPanel health={data} />
            <div className={styles.page}>
              <LimiterPanel health={data} />
              <OutboxPanel health={data} />
            </div>
            <DeliveryPanel health={data} />
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
