import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { type Column, Pager } from "../../parts/data-table.tsx";
import { ChoiceFilter, SearchField } from "../../parts/filters.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty, NoMatch } from "../../parts/loaded.tsx";
import { Menu } from "../../parts/menu.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import {
  SUBSCRIPTION_STATES,
  type Subscription,
  subscriptionsQuery,
  type WantedChange,
} from "../../queries/subscriptions.ts";
import { ChangeDialog } from "./subscription-dialogs.tsx";

const route = getRouteApi("/shell/operator/subscriptions");

const TONES = { active: "good", paused: "warn", ended: "neutral" } as const satisfies Record<
  Subscription["state"],
  Tone
>;

interface Task {
  readonly subscription: Subscription;
  readonly action: WantedChange["action"];
}

/** The subscriptions of all accounts to plans, and what an operator may do with them. */
export function SubscriptionsPage() {
  const search = route.useSearch();
  const list = useQuery(subscriptionsQuery(search));
  const [task, setTask] = useState<Task>();
  return (
    <div className={styles.page}>
      <PageHeader title="Subscriptions" note="Each period of a subscription grants its credit once." />
      <Panel isFlush>
        <ListTable
          caption="Subscriptions"
          filters={
            <>
              <ChoiceFilter
                label="State"
                name="state"
                usual="not ended"
                options={[...SUBSCRIPTION_STATES, "all"]}
              />
              <SearchField name="q" value={search.q} label="Account or plan" />
            </>
          }
          columns={[...COLUMNS, actionsColumn(setTask)]}
          rowKey={({ id }) => id}
          empty={
            search.q || search.state || search.page ? (
              <NoMatch filters={["state"]} />
            ) : (
              <Empty icon="wallet" title="No subscription yet">
                Subscribe an account to a plan by its menu on the page of the accounts.
              </Empty>
            )
          }
          query={list}
          footer={<Pager next={list.data?.next ?? null} />}
        />
      </Panel>
      {task && <ChangeDialog {...task} onClose={() => setTask(undefined)} />}
    </div>
  );
}

const COLUMNS: readonly Column<Subscription>[] = [
  {
    id: "account",
    order: "server",
    header: "Account",
    cell: ({ account_name, account_id }) => <span title={account_id}>{account_name ?? account_id}</span>,
  },
  {
    id: "plan",
    order: "server",
    header: "Plan",
    cell: ({ plan, next_plan }) => (
      <span className={styles.named}>
        {plan.name}
        {next_plan && <small>then {next_plan.name}</small>}
      </span>
    ),
  },
  {
    id: "grant",
    header: "Credit of a period",
    align: "end",
    cell: ({ plan }) => <Money usd={plan.grant_usd} />,
  },
  {
    id: "state",
    header: "State",
    cell: ({ state, ends_at }) => <Badge tone={TONES[state]}>{ends_at === null ? state : "ends"}</Badge>,
  },
  {
    id: "next",
    order: "server",
    header: "Next period or end",
    cell: ({ next_period_at, ends_at, ended_at }) => {
      const at = next_period_at ?? ends_at ?? ended_at;
      return at === null ? "–" : <Time at={at} />;
    },
  },
];

function actionsColumn(start: (task: Task) => void): Column<Subscription> {
  return {
    id: "actions",
    header: "",
    align: "end",
    cell: (subscription) => {
      const { state, ends_at: endsAt, account_name: name } = subscription;
      if (state === "ended") return null;
      const begin = (action: Task["action"]) => () => start({ subscription, action });
      const resume = { text: "Resume…", icon: "play", onSelect: begin("resume") } as const;
      const pause = { text: "Pause…", icon: "pause", onSelect: begin("pause") } as const;
      const change = { text: "Change the plan…", icon: "code", onSelect: begin("change") } as const;
      const cancel = { text: "Cancel…", icon: "close", isDanger: true, onSelect: begin("cancel") } as const;
      const isHalted = state === "paused" || endsAt !== null;
      return (
        <Menu
          label={`Actions of the subscription of ${name}`}
          items={[...(endsAt === null ? [change] : []), isHalted ? resume : pause, null, cancel]}
        />
      );
    },
  };
}
