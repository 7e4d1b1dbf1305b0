import { Link } from "@tanstack/react-router";
import { DownloadLink } from "../../parts/button.tsx";
import { Panel } from "../../parts/panel.tsx";
import type { Project } from "../../queries/projects.ts";
import { formatMonth } from "../../times.ts";
import { printQuery } from "../../usage-view.ts";
import styles from "./project.module.css";

const MONTHS_MAX = 3;

interface FinanceProps {
  readonly account: string;
  readonly project: Project;
}

/** What finance asks for: the usage of the project, and the statements of months. */
export function Finance({ account, project }: FinanceProps) {
  const { id, created_at } = project;
  return (
    <Panel
      title="For finance"
      note="UTC months. All projects sum to the account's statement."
      actions={
        <Link
          to="/accounts/$account/usage"
          params={{ account }}
          search={{ scope: `project:${id}`, group: "key" }}
        >
          Its usage
        </Link>
      }
    >
      <dl className={styles.facts}>
        {monthsSince(created_at).map((month) => (
          <div key={month.name} className={styles.pair}>
            <dt>{formatMonth(month.name)}</dt>
            <dd className={styles.files}>
              <DownloadLink
                size="small"
                label={`This project in ${month.name}`}
                href={usageAddress(account, id, month)}
              >
                This project
              </DownloadLink>
              <DownloadLink
                size="small"
                label={`All projects in ${month.name}`}
                href={statementAddress(account, month)}
              >
                All projects
              </DownloadLink>
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

/** A UTC month. */
interface Month {
  /** "2026-11" */
  readonly name: string;
  readonly from: Date;
  readonly to: Date;
}

/** The latest months since a time, the running one first. */
function monthsSince(iso: string): readonly Month[] {
  const now = new Date();
  const starts = Array.from({ length: MONTHS_MAX }, (_, index) => index);
  return starts
    .map((back) => {
      const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1));
      const to = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back + 1, 1));
      return { name: from.toISOString().slice(0, 7), from, to };
    })
    .filter(({ to }) => to.getTime() > Date.parse(iso));
}

/** The address of the usage of one project in a month, by day and key. */
function usageAddress(account: string, project: string, { from, to }: Month): string {
  const range = { from: from.toISOString(), to: to.toISOString(), offset_h: 0 };
  const query = printQuery({ ...range, by: "day", group: "key", scope: `project:${project}` });
  return `/console/api/accounts/${encodeURIComponent(account)}/usage.csv?${query}`;
}

/** The address of the account's statement of a month, by project. */
function statementAddress(account: string, { name }: Month): string {
  const query = new URLSearchParams({ month: name, by: "project" });
  return `/console/api/accounts/${encodeURIComponent(account)}/wallet/statement.csv?${query}`;
}
