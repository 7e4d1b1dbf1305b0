import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { plural } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button, DownloadLink } from "../../parts/button.tsx";
import { ErrorPanel, Skeleton } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import stack from "../../parts/stack.module.css";
import { type Sheet, sheetQuery } from "../../queries/statement.ts";
import { useAccount } from "../../session.ts";
import { formatMonth, formatUtc } from "../../times.ts";
import styles from "./statement.module.css";
import { Moves, Parts, Proof } from "./statement-parts.tsx";

const route = getRouteApi("/shell/accounts/$account/statements/$month");

/** The statement of a month as one page, which prints and can be saved as a PDF by the browser. */
export function StatementPage() {
  const account = useAccount();
  const { month } = route.useParams();
  const { data, error, refetch } = useQuery(sheetQuery(account.id, month));
  const file = `/console/api/accounts/${encodeURIComponent(account.id)}/wallet/statement.csv?month=${encodeURIComponent(month)}`;
  return (
    <div className={stack.page}>
      <PageHeader
        title={`Statement of ${nameOf(month)}`}
        badges={data?.is_running && <Badge tone="warn">running</Badge>}
        back={{
          to: "/accounts/$account/wallet",
          params: { account: account.id },
          search: { tab: "statements" },
          text: "Statements",
        }}
      >
        <span className={styles.actions}>
          <DownloadLink href={`${file}&sheet=true`}>CSV</DownloadLink>
          <DownloadLink href={file}>Transfers</DownloadLink>
          <Button look="primary" onClick={() => print()}>
            Print
          </Button>
        </span>
      </PageHeader>
      {error && !data && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {!data && !error && (
        <Panel>
          <Skeleton shape="title" lines={6} />
        </Panel>
      )}
      {data && <Paper account={account.id} sheet={data} />}
    </div>
  );
}

function nameOf(month: string): string {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(month) ? formatMonth(month) : month;
}

interface PaperProps {
  readonly account: string;
  readonly sheet: Sheet;
}

function Paper({ account, sheet }: PaperProps) {
  return (
    <article className={styles.paper} aria-label={`Statement of ${nameOf(sheet.month)}`}>
      <Parties sheet={sheet} />
      <Balance sheet={sheet} />
      <Parts title="Charges by project" who="Project" lines={sheet.projects} />
      <Parts title="Charges by key" who="Key" lines={sheet.keys} />
      <Moves sheet={sheet} />
      <Proof account={account} sheet={sheet} />
    </article>
  );
}

/** Whom the statement is from and for, and of what time. */
function Parties({
  sheet: { company, account, from, to, time_zone, is_running },
}: {
  readonly sheet: Sheet;
}) {
  return (
    <header className={styles.parties}>
      {company && (
        <address className={styles.company}>
          <strong>{company.name}</strong>
          {company.address !== null && <span>{company.address}</span>}
          {company.tax_id !== null && <span>Tax id {company.tax_id}</span>}
        </address>
      )}
      <dl className={styles.facts}>
        <dt>Account</dt>
        <dd>
          {account.name}
          {account.email !== null && <>, {account.email}</>}
          <br />
          <code>{account.id}</code>
        </dd>
        <dt>Period</dt>
        <dd>
          {formatUtc(from).slice(0, -4)} to {is_running && "now, "}
          {formatUtc(to).slice(0, -4)}, {time_zone}
        </dd>
      </dl>
    </header>
  );
}

/** From the opening to the closing balance: each amount is what it changed. */
function Balance({ sheet }: { readonly sheet: Sheet }) {
  return (
    <table className={styles.sums}>
      <caption hidden>From the opening to the closing balance</caption>
      <tbody>
        <Row name="Opening balance" usd={sheet.opening_usd} isSum />
        {sheet.granted.map((each) => (
          <Row
            key={each.source}
            name={`+ granted: ${each.source}`}
            note={plural(each.transfers, "top-up")}
            usd={each.amount_usd}
          />
        ))}
        <Row name="− charged" usd={sheet.charged_usd} />
        <Row name="+ refunded" usd={sheet.refunded_usd} isOptional />
        {sheet.expired.map((each) => (
          <Row
            key={each.source}
            name={`− expired: ${each.source}`}
            note={plural(each.transfers, "end")}
            usd={each.amount_usd}
          />
        ))}
        <Row name="− payments reversed" usd={sheet.reversed_usd} isOptional />
        <Row name="+ reversals given back" usd={sheet.returned_usd} isOptional />
        <Row name="− corrected" usd={sheet.corrected_usd} isOptional />
        <Row name="Closing balance" usd={sheet.closing_usd} isSum />
      </tbody>
    </table>
  );
}

interface RowProps {
  readonly name: string;
  readonly usd: string;
  readonly note?: ReactNode;
  readonly isSum?: boolean;
  /** Left out where it is nothing. */
  readonly isOptional?: boolean;
}

function Row({ name, usd, note, isSum = false, isOptional = false }: RowProps) {
  if (isOptional && usd === "0.00") return null;
  return (
    <tr className={isSum ? styles.sum : undefined}>
      <th scope="row">
        {name}
        {note && <small> {note}</small>}
      </th>
      <td>
        <Money usd={usd} isExact />
      </td>
    </tr>
  );
}
