import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { formatCount, formatRunway } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button, IconButton } from "../../parts/button.tsx";
import { classes } from "../../parts/classes.ts";
import { Icon } from "../../parts/icons.tsx";
import { ErrorPanel, Skeleton } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { CreditDialog } from "../../parts/money-dialogs.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Stat, Stats } from "../../parts/stat.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Time } from "../../parts/time.tsx";
import { type Wallet, walletQuery } from "../../queries/overview.ts";
import { checkoutQuery } from "../../queries/wallet.ts";
import { withSearch } from "../../search.ts";
import { setupQuery, useAccount, useMay, useMe } from "../../session.ts";
import { AutoTopUpPanel } from "./auto-top-up.tsx";
import { Credits } from "./credits.tsx";
import { PlanPanel } from "./plan-panel.tsx";
import { WalletProof } from "./proof.tsx";
import { Statements } from "./statements.tsx";
import { TopUp } from "./top-up.tsx";
import { Holds, Transfers } from "./transfers.tsx";
import styles from "./wallet.module.css";

const route = getRouteApi("/shell/accounts/$account/wallet");

/** The money of an account: where it stands, and every entry that made it so. */
export function WalletPage() {
  const account = useAccount();
  const { topup, checkout, plan } = route.useSearch();
  const navigate = route.useNavigate();
  const mayTopUp = useMay("wallet.write");
  const { person } = useMe();
  const [isCrediting, setIsCrediting] = useState(false);
  const { data } = useQuery(walletQuery(account.id));
  // Known before the top-up opens, so that its card form does not appear above a field in use.
  useQuery(setupQuery);
  const change = (search: Partial<Record<"topup" | "checkout" | "plan", string | undefined>>) =>
    void navigate({ search: withSearch(search) });
  return (
    <div className={styles.page}>
      <PageHeader title="Wallet" badges={data?.state === "frozen" && <Badge tone="bad">frozen</Badge>}>
        {person.is_operator && <Button onClick={() => setIsCrediting(true)}>Add credit as operator</Button>}
        {mayTopUp && (
          <Button icon="plus" look="primary" onClick={() => change({ topup: "1" })}>
            Top up
          </Button>
        )}
      </PageHeader>
      {checkout && (
        <CheckoutBanner
          account={account.id}
          checkout={checkout}
          onClose={() => change({ checkout: undefined })}
        />
      )}
      <Equation account={account.id} />
      <AutoTopUpPanel account={account.id} />
      <PlanPanel account={account.id} state={plan} onChange={change} />
      <Rows account={account.id} />
      {mayTopUp && topup && <TopUp account={account.id} onClose={() => change({ topup: undefined })} />}
      {isCrediting && <CreditDialog account={account} onClose={() => setIsCrediting(false)} />}
    </div>
  );
}

function Rows({ account }: { readonly account: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { tab = "entries", page } = search;
  // Each tab has pages of its own.
  const choose = (id: string) =>
    void navigate({
      search: withSearch({ tab: id === "entries" ? undefined : id, page: undefined, q: undefined }),
    });
  const tabs = {
    entries: { title: "Entries", content: <Transfers account={account} search={search} /> },
    credits: { title: "Credits", content: <Credits account={account} search={search} /> },
    holds: { title: "Running holds", content: <Holds account={account} page={page} /> },
    statements: { title: "Statements", content: <Statements account={account} /> },
    proof: { title: "Proof", content: <WalletProof account={account} /> },
  };
  return (
    <Tabs
      label="Rows of the wallet"
      value={tab in tabs ? tab : "entries"}
      onChange={choose}
      tabs={Object.entries(tabs).map(([id, { title, content }]) => ({
        id,
        title,
        content: <div className={styles.tab}>{content}</div>,
      }))}
    />
  );
}

interface CheckoutBannerProps {
  readonly account: string;
  readonly checkout: string;
  /** Takes the payment out of the address. */
  readonly onClose: () => void;
}

/** Shows the state of the payment after the return from Stripe Checkout. */
function CheckoutBanner({ account, checkout, onClose }: CheckoutBannerProps) {
  const { data, error } = useQuery(checkoutQuery(account, checkout));
  const queryClient = useQueryClient();
  const state = data?.state;
  useEffect(() => {
    if (state === "paid") void queryClient.invalidateQueries({ queryKey: ["account", account, "wallet"] });
  }, [state, account, queryClient]);
  const tone = error || state === "expired" ? styles.bad : state === "paid" && styles.good;
  return (
    <div className={classes(styles.banner, tone)} role="status">
      <Icon name={state === "paid" ? "check" : "info"} size={20} />
      <p>
        {error && "This payment is not known here."}
        {!error && !data && "Looking for the payment…"}
        {state === "open" && "The payment is on its way: the wallet is credited when Stripe confirms it."}
        {state === "expired" && "The payment was not made in time: nothing was charged."}
        {state === "paid" && data && (
          <>
            Paid: <Money usd={data.amount_usd} /> are in the wallet.
          </>
        )}
      </p>
      <IconButton icon="close" label="Close this message" size="small" onClick={onClose} />
    </div>
  );
}

/** posted − held + credit = available, each term a link to the rows that make it; below it, how fast it goes. */
function Equation({ account }: { readonly account: string }) {
  const { data, error, refetch } = useQuery(walletQuery(account));
  if (error && !data) return <ErrorPanel error={error} onRetry={() => void refetch()} />;
  return (
    <>
      <Panel>{data ? <Terms account={account} wallet={data} /> : <Skeleton shape="title" lines={2} />}</Panel>
      {data?.next_end && <NextEnd account={account} end={data.next_end} />}
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

interface NextEndProps {
  readonly account: string;
  readonly end: NonNullable<Wallet["next_end"]>;
}

/** What the wallet loses next, with a link to all its credits. */
function NextEnd({ account, end }: NextEndProps) {
  return (
    <div className={styles.banner} role="note">
      <Icon name="info" size={20} />
      <p>
        <Money usd={end.amount_usd} /> end on <Time at={end.at} /> unless they are spent before.{" "}
        <Link to="/accounts/$account/wallet" params={{ account }} search={{ tab: "credits" }}>
          See the credits
        </Link>
      </p>
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
              {wallet.totals.expired_usd !== "0.00" && (
                <>
                  , <Money usd={wallet.totals.expired_usd} /> expired
                </>
              )}
            </>
          )
        }
      />
    </Stats>
  );
}
