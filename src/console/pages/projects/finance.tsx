import { useQuery } from "@tanstack/react-query";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type Project, projectUsageQuery } from "../../queries/projects.ts";
import styles from "./project.module.css";

interface FinanceProps {
  readonly account: string;
  readonly project: Project;
}

/** What finance asks for. */
export function Finance({ account, project }: FinanceProps) {
  const { data } = useQuery(projectUsageQuery(account, project.id, "member"));
  return (
    <Panel title="For finance">
      <dl className={styles.facts}>
        <dt>Spent in 30 days</dt>
        <dd>{data && <Money usd={data.total.cost_usd} />}</dd>
      </dl>
    </Panel>
  );
}
