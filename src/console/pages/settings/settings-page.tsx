import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Badge } from "../../parts/badge.tsx";
import { Copy } from "../../parts/copy.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { useAccount } from "../../session.ts";
import { AccountDetails } from "./details.tsx";
import { Leave } from "./leave.tsx";
import { type Account, accountQuery } from "./queries.ts";

const route = getRouteApi("/shell/accounts/$account/settings");

/** Name and address of the account, its facts, and the way out of it. */
export function SettingsPage() {
  const { account } = route.useParams();
  const { role } = useAccount();
  const { data, error, refetch } = useQuery(accountQuery(account));
  return (
    <div className={styles.page}>
      <PageHeader title="Settings" note="Of this account. Your own are in your profile." />
      {error && !data && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton shape="block" />}
      {data && (
        <div className={styles.columns}>
          <Panel title="Account">
            <AccountDetails key={data.id} opened={data} />
          </Panel>
          <Panel title="Facts">
            <Facts account={data} />
          </Panel>
        </div>
      )}
      {role !== "acting" && <Leave />}
    </div>
  );
}

function Facts({ account: { id, state, created_at } }: { readonly account: Account }) {
  return (
    <dl className={styles.facts}>
      <Fact name="Id">
        <code>{id}</code> <Copy text={id} label="Copy the id" />
      </Fact>
      <Fact name="State">
        <Badge tone={state === "active" ? "good" : "bad"}>{state}</Badge>
      </Fact>
      <Fact name="Created">
        <Time at={created_at} as="date" />
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
