import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Suspense, useEffect, useState } from "react";
import { OutcomeBadge } from "../../parts/badge.tsx";
import { ButtonLink } from "../../parts/button.tsx";
import { CostChart } from "../../parts/cost-chart.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty, Skeleton } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import { Time } from "../../parts/time.tsx";
import { type Latest, latestQuery } from "../../queries/overview.ts";
import { lazyPart } from "../../reachable.ts";
import { useAccount, useMay } from "../../session.ts";
import { LatestRefusals, NearLimits, OpenNotices } from "./attention.tsx";
import { Balance } from "./balance.tsx";
import styles from "./overview.module.css";

const route = getRouteApi("/shell/accounts/$account/");
// Accounts with requests never show them.
const FirstSteps = lazyPart(() => import("./first-steps.tsx"), "FirstSteps");

/** How an account stands: its money, what it spends, and what wants attention. */
export function OverviewPage() {
  const { id, name } = useAccount();
  const search = route.useSearch();
  const mayCreate = useMay("keys.create");
  const mayTopUp = useMay("wallet.write");
  const { data } = useQuery(latestQuery(id));
  const isNew = data?.items.length === 0;
  const steps = useSteps(id, isNew);
  useRenewal(id, data?.items);
  return (
    <div className={styles.page}>
      <div>
        <PageHeader title="Overview" note={name}>
          {!isNew && <RangePicker usual="30d" />}
          {mayTopUp && (
            <ButtonLink
              icon="plus"
              to="/accounts/$account/wallet"
              params={{ account: id }}
              search={{ topup: "1" }}
            >
              Top up
            </ButtonLink>
          )}
          {mayCreate && (
            <ButtonLink
              icon="key"
              look="primary"
              to="/accounts/$account/keys"
              params={{ account: id }}
              search={{ create: "1" }}
            >
              Create key
            </ButtonLink>
          )}
        </PageHeader>
        <Balance account={id} />
      </div>
      {steps.areShown && (
        <Suspense fallback={<Skeleton shape="block" />}>
          <FirstSteps account={id} onHide={steps.hide} />
        </Suspense>
      )}
      {!isNew && (
        <>
          <CostChart account={id} search={search} />
          <div className={styles.columns}>
            <LatestRequests account={id} />
            <div className={styles.page}>
              <LatestRefusals account={id} />
              <NearLimits account={id} />
              <OpenNotices account={id} />
            </div>
          </div>
        </>
      )}
    </div>
  );
}

/** The first steps stay in this tab when the last one is done, also over a reload, until they are hidden. */
function useSteps(account: string, isNew: boolean) {
  const name = `first-steps-${account}`;
  const [isKept, setIsKept] = useState(() => sessionStorage.getItem(name) !== null);
  useEffect(() => {
    if (!isNew) return;
    sessionStorage.setItem(name, "shown");
    setIsKept(true);
  }, [isNew, name]);
  const hide = () => {
    sessionStorage.removeItem(name);
    setIsKept(false);
  };
  return { areShown: isNew || isKept, hide: isNew ? undefined : hide };
}

/** Reads the figures and charts of the account again as soon as a request is new or has ended: all move together. */
function useRenewal(account: string, latest: Latest["items"] | undefined): void {
  const client = useQueryClient();
  const state = latest?.map(({ id, state, charged_usd }) => `${id} ${state} ${charged_usd}`).join();
  const [seen, setSeen] = useState<string>();
  useEffect(() => {
    if (state === undefined || state === seen) return;
    setSeen(state);
    if (seen === undefined) return;
    for (const name of ["usage", "wallet", "keys"])
      void client.invalidateQueries({ queryKey: ["account", account, name] });
  }, [account, client, seen, state]);
}

const COLUMNS: readonly Column<Latest["items"][number]>[] = [
  { id: "at", header: "Time", isNarrow: true, cell: ({ at }) => <Time at={at} as="relative" /> },
  { id: "model", header: "Model", isNarrow: true, card: "bare", cell: ({ model }) => model },
  {
    id: "key",
    header: "Key",
    isNarrow: true,
    card: "bare",
    cell: ({ key_name, key_id }) => key_name ?? key_id,
  },
  {
    id: "outcome",
    header: "Outcome",
    isNarrow: true,
    card: "bare",
    cell: ({ state, outcome }) => <OutcomeBadge state={state} outcome={outcome} />,
  },
  {
    id: "cost",
    header: "Charge",
    align: "end",
    card: "corner",
    cell: ({ charged_usd }) => <Money usd={charged_usd} isAligned />,
  },
];

/** The 5 newest requests; each leads to its receipt. */
function LatestRequests({ account }: { readonly account: string }) {
  const list = useQuery(latestQuery(account));
  return (
    <Panel
      title="Latest requests"
      note="Each leads to its receipt: what it cost, and why."
      isFlush
      actions={
        <Link to="/accounts/$account/requests" params={{ account }}>
          All requests
        </Link>
      }
    >
      <DataTable
        caption="Latest requests"
        columns={COLUMNS}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({
          to: "/accounts/$account/requests/$request",
          params: { account, request: id },
        })}
        empty={<Empty icon="requests" title="No requests yet" />}
        query={list}
      />
    </Panel>
  );
}
