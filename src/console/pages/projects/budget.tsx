import { useQuery } from "@tanstack/react-query";
import { Button } from "../../parts/button.tsx";
import { Skeleton } from "../../parts/loaded.tsx";
import { Available, Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { SpendingBar } from "../../parts/spending-limit.tsx";
import { walletQuery } from "../../queries/overview.ts";
import type { Project } from "../../queries/projects.ts";
import { useMay } from "../../session.ts";
import { describeLimit, describePeriod, limitValuesOf } from "../../spending-limits.ts";
import styles from "./project.module.css";

interface BudgetProps {
  readonly account: string;
  readonly project: Project;
  readonly onEdit: () => void;
}

/** What the project may still spend: its budget, the limit of each end user, and the wallet of all projects. */
export function Budget({ account, project, onEdit }: BudgetProps) {
  const { spending_limit: limit, end_user_limit } = project;
  const { data: wallet } = useQuery(walletQuery(account));
  const mayWrite = useMay("projects.write");
  return (
    <Panel title="Budget" note="A request that would pass it is refused before it costs anything.">
      <div className={styles.stack}>
        {limit ? (
          <div className={styles.budget}>
            <p className={styles.left}>
              <strong>
                <Money usd={limit.remaining_usd} />
              </strong>{" "}
              left of <Money usd={limit.amount_usd} /> {describePeriod(limit.period)}
              {limit.time_zone && limit.period !== "total" && ` (${limit.time_zone})`}
            </p>
            <SpendingBar limit={limit} label="Budget of the project" />
          </div>
        ) : (
          <p className={styles.none}>
            No budget: the project spends what the wallet has.{" "}
            {mayWrite && (
              <Button size="small" onClick={onEdit}>
                Set a budget
              </Button>
            )}
          </p>
        )}
        <dl className={styles.facts}>
          <dt>Each end user</dt>
          <dd>{end_user_limit ? describeLimit(limitValuesOf(end_user_limit)) : "no limit"}</dd>
          <dt>Wallet of all projects</dt>
          <dd>
            {wallet ? (
              <>
                <Available usd={wallet.available_usd} /> available
              </>
            ) : (
              <Skeleton />
            )}
          </dd>
        </dl>
      </div>
    </Panel>
  );
}
