import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { formatCount, plural } from "../../format.ts";
import { classes } from "../../parts/classes.ts";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Stat, Stats } from "../../parts/stat.tsx";
import { Time } from "../../parts/time.tsx";
import { type Wallet, walletQuery } from "./queries.ts";
import styles from "./wallet.module.css";

/** posted − held + credit = available, each term a link to the rows that make it; below it, how fast it goes. */
export function Equation({ account }: { readonly account: string }) {
  const { data, error, refetch } = useQuery(walletQuery(account));
  if (error && !data) return <ErrorPanel error={error} onRetry={() => void refetch()} />;
  return (
    <>
      <Panel>{data ? <Terms account={account} wallet={data} /> : <Skeleton shape="title" lines={2} />}</Panel>
      <Figures wallet={data} />
    </>
  );
}

function Terms({ account, wallet }: { readonly account: string; readonly wallet: Wallet }) {
  const { posted_usd, held_usd, credit_usd, available_usd, running, oldest_hold_at } = wallet;
  const to = { to: "/accounts/$account/wallet", params: { account } } as const;
  return (
    <div className={styles.equation} role="group" aria-label="Available balance">
      <Link {...to} className={styles.term} title="Every entry of the wallet">
        <span className={styles.label}>Posted</span>
        <span className={styles.amount}>
          <Money usd={posted_usd} />
        </span>
      </Link>
      <span className={styles.sign}>−</span>
      <Link {...to} search={{ tab: "holds" }} className={styles.term} title="Requests that hold money now">
        <span className={styles.label}>
          Held{running > 0 && ` by ${formatCount(running)} running`}
          {oldest_hold_at && (
            <>
              , oldest <Time at={oldest_hold_at} as="relative" />
            </>
          )}
        </span>
        <span className={styles.amount}>
          <Money usd={held_usd} />
        </span>
      </Link>
      <span className={styles.sign}>+</span>
      <span className={styles.term} title="How far below zero an operator lets this wallet go">
        <span className={styles.label}>Credit limit</span>
        <span className={styles.amount}>
          <Money usd={credit_usd} />
        </span>
      </span>
      <span className={styles.sign}>=</span>
      <span className={classes(styles.term, styles.result)}>
        <span className={styles.label}>Available</span>
        <span className={styles.amount}>
          <Money usd={available_usd} />
        </span>
      </span>
    </div>
  );
}

function Figures({ wallet }: { readonly wallet: Wallet | undefined }) {
  return (
    <Stats label="Wallet in figures">
      <Stat
        name="Runway"
        value={wallet && formatRunway(wallet.runway_days)}
        note={wallet?.runway_days === null ? "No spending in 7 days" : "At the rate of the last 7 days"}
      />
      <Stat name="Spent today" value={wallet && <Money usd={wallet.spent_today_usd} />} note="UTC day" />
      <Stat
        name="Spent this month"
        value={wallet && <Money usd={wallet.spent_month_usd} />}
        note="UTC month"
      />
      <Stat
        name="Topped up so far"
        value={wallet && <Money usd={wallet.totals.topped_up_usd} />}
        note={
          wallet && (
            <>
              <Money usd={wallet.totals.charged_usd} /> charged, <Money usd={wallet.totals.refunded_usd} />{" "}
              refunded
            </>
          )
        }
      />
    </Stats>
  );
}

function formatRunway(days: number | null): string {
  if (days === null) return "–";
  if (days < 1) return "Under a day";
  const whole = Math.floor(days);
  if (whole > 999) return "Over 999 days";
  return plural(whole, "day");
}
