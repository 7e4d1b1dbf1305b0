import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { formatCount, formatRunway } from "../../format.ts";
import { ErrorPanel, Skeleton } from "../../parts/loaded.tsx";
import { Available, Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Stat, Stats } from "../../parts/stat.tsx";
import { Time } from "../../parts/time.tsx";
import { type Wallet, walletQuery } from "../../queries/overview.ts";
import styles from "./overview.module.css";

/** What is available, as the equation that makes it, and how fast it goes. */
export function Balance({ account }: { readonly account: string }) {
  const { data, error, refetch } = useQuery(walletQuery(account));
  if (error && !data) return <ErrorPanel error={error} onRetry={() => void refetch()} />;
  return (
    <div className={styles.page}>
      <Panel>
        <div className={styles.equation}>
          <div>
            <span className={styles.label}>Available</span>
            <span className={styles.amount}>
              {data ? <Available usd={data.available_usd} /> : <Skeleton shape="title" />}
            </span>
          </div>
          {data && <Terms account={account} wallet={data} />}
        </div>
      </Panel>
      <Stats label="Spending">
        <Stat name="Spent today" value={data && <Money usd={data.spent_today_usd} />} note="UTC day" />
        <Stat name="Spent this month" value={data && <Money usd={data.spent_month_usd} />} note="UTC month" />
        <Stat
          name="Runway"
          value={data && formatRunway(data.runway_days)}
          note={data?.runway_days === null ? "No spending in 7 days" : "At the rate of the last 7 days"}
        />
        <Stat
          name="Running now"
          value={data && formatCount(data.running)}
          note={data?.oldest_hold_at ? <Oldest at={data.oldest_hold_at} /> : "No request holds money"}
        />
      </Stats>
    </div>
  );
}

function Terms({ account, wallet }: { readonly account: string; readonly wallet: Wallet }) {
  const { posted_usd, held_usd, credit_usd } = wallet;
  return (
    <div className={styles.terms}>
      <span className={styles.sign}>=</span>
      <Link to="/accounts/$account/wallet" params={{ account }} className={styles.term}>
        <small>posted</small>
        <Money usd={posted_usd} />
      </Link>
      <span className={styles.sign}>−</span>
      <Link
        to="/accounts/$account/wallet"
        params={{ account }}
        search={{ tab: "holds" }}
        className={styles.term}
      >
        <small>held</small>
        <Money usd={held_usd} />
      </Link>
      <span className={styles.sign}>+</span>
      <span className={styles.term}>
        <small>credit limit</small>
        <Money usd={credit_usd} />
      </span>
    </div>
  );
}

function Oldest({ at }: { readonly at: string }) {
  return (
    <>
      Oldest from <Time at={at} as="relative" />
    </>
  );
}
