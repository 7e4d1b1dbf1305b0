import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { readUsd } from "../../format.ts";
import { Button } from "../../parts/button.tsx";
import { Skeleton } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Forecast } from "../../parts/spending-limit.tsx";
import { Time } from "../../parts/time.tsx";
import { type KeyPageData, keyQuery } from "../../queries/keys.ts";
import { projectsQuery } from "../../queries/projects.ts";
import { usageQuery } from "../../queries/usage.ts";
import { DAY_MS } from "../../times.ts";
import { resolveUsage } from "../../usage-view.ts";
import styles from "./key.module.css";
import { SpendingLimit } from "./key-parts.tsx";

interface KeyFactsProps {
  readonly account: string;
  readonly shown: KeyPageData;
  /** Asks to end the secret before the latest rotation; absent without the right to. */
  readonly onEndPrevious?: (() => void) | undefined;
}

/** What is set on a key. */
export function KeyFacts({ account, shown, onEndPrevious }: KeyFactsProps) {
  const { spending_limit: limit, models, tiers, expires_at, previous, last_used_at, id } = shown;
  // One figure with the chart below, which begins at the viewer's midnight too.
  const { data: usage } = useQuery(
    usageQuery(account, resolveUsage({ range: "30d", key: id }, { isOperator: false })),
  );
  return (
    <Panel title="Settings">
      <dl className={styles.facts}>
        <Place account={account} shown={shown} />
        <dt>Spent in 30 days</dt>
        <dd>{usage ? <Money usd={usage.total.cost_usd} /> : <Skeleton />}</dd>
        <dt>Last used</dt>
        <dd>{last_used_at ? <Time at={last_used_at} as="relative" /> : "never"}</dd>
        <dt>Spending limit</dt>
        <dd>
          <SpendingLimit spending_limit={limit} />
          {limit?.time_zone && limit.period !== "total" && ` (${limit.time_zone})`}
          {limit && (
            <>
              <br />
              <Forecast limit={limit} recent={usage && recentOf(usage.total.cost_usd, shown.created_at)} />
            </>
          )}
        </dd>
        <dt>Models</dt>
        <dd>{models ? models.join(", ") : "every model"}</dd>
        <dt>Service tiers</dt>
        <dd>{tiers ? ["standard", ...tiers].join(", ") : "every tier"}</dd>
        <dt>Tools with a fee</dt>
        <dd>{shown.allows_paid_tools ? "may be used" : "may not be used"}</dd>
        <dt>Expires</dt>
        <dd>{expires_at ? <Time at={expires_at} /> : "never"}</dd>
        {previous && (
          <>
            <dt>Old secret</dt>
            <dd>
              <code>{previous.hint}</code> works until <Time at={previous.ends_at} />{" "}
              {onEndPrevious && (
                <Button size="small" onClick={onEndPrevious}>
                  End it now
                </Button>
              )}
            </dd>
          </>
        )}
        <dt>Long answers</dt>
        <dd>{shown.allows_clamp ? "shortened to what is left" : "refused when too little is left"}</dd>
        <dt>Keys below it</dt>
        <dd>{shown.allows_children ? "may be made by it" : "none may be made"}</dd>
      </dl>
    </Panel>
  );
}

/** What a key has spent in the last 30 days, or since it was made. */
function recentOf(usd: string, createdAt: string) {
  return { spent: readUsd(usd), ms: Math.min(30 * DAY_MS, Date.now() - Date.parse(createdAt)) };
}

/** The project that a key spends for, and the key that made it. */
function Place({ account, shown: { project_id, parent_id } }: Pick<KeyFactsProps, "account" | "shown">) {
  const { data: projects } = useQuery(projectsQuery(account));
  const { data: parent } = useQuery({ ...keyQuery(account, parent_id ?? ""), enabled: parent_id !== null });
  const project = projects?.items.find(({ id }) => id === project_id);
  return (
    <>
      <dt>Project</dt>
      <dd>
        <Link to="/accounts/$account/projects/$project" params={{ account, project: project_id }}>
          {project?.name ?? "…"}
        </Link>
      </dd>
      {parent_id !== null && (
        <>
          <dt>Made by the key</dt>
          <dd>
            <Link to="/accounts/$account/keys/$key" params={{ account, key: parent_id }}>
              {parent?.name ?? parent_id}
            </Link>
            , and ends with it
          </dd>
        </>
      )}
    </>
  );
}
