import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { plural } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button, DownloadLink } from "../../parts/button.tsx";
import { classes } from "../../parts/classes.ts";
import { ErrorPanel, Skeleton } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import stack from "../../parts/stack.module.css";
import { type Sheet, sheetQuery } from "../../queries/statement.ts";
import { useAccount } from "../../session.ts";
import { formatUtc } from "../../times.ts";
import { CompareWith, Comparison, nameOfMonth } from "./compare-months.tsx";
import styles from "./statement.module.css";
import { Moves, Parts, Proof } from "./statement-parts.tsx";

const route = getRouteApi("/shell/accounts/$account/statements/$month");

/** The statement of a month as one page, which prints and can be saved as a PDF by the browser. */
export function StatementPage() {
  const account = useAccount();
  const { month } = route.useParams();
  const { with: other } = route.useSearch();
  const { data, error, refetch } = useQuery(sheetQuery(account.id, month));
  const compared = useQuery({ ...sheetQuery(account.id, other ?? ""), enabled: other !== undefined });
  const file = `/console/api/accounts/${encodeURIComponent(account.id)}/wallet/statement.csv?month=${encodeURIComponent(month)}`;
  return (
    <div className={classes(stack.page, styles.page)}>
      <PageHeader
        title={`Statement of ${nameOfMonth(month)}`}
        badges={data?.is_running && <Badge tone="warn">running</Badge>}
        back={{
          to: "/accounts/$account/wallet",
          params: { account: account.id },
          search: { tab: "statements" },
          text: "Statements",
        }}
      >
        <span className={styles.actions}>
          <CompareWith account={account.id} month={month} chosen={other} />
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
      {compared.error && other && <ErrorPanel error={compared.error} />}
      {data && (
        <Paper account={account.id} sheet={data} other={other === undefined ? undefined : compared.data} />
      )}
    </div>
  );
}

interface PaperProps {
  readonly account: string;
  readonly sheet: Sheet;
  /** The month that it is compared with. */
  readonly other: Sheet | undefined;
}

function Paper({ account, sheet, other }: PaperProps) {
  return (
    <article className={styles.paper} aria-label={`Statement of ${nameOfMonth(sheet.month)}`}>
      <Parties sheet={sheet} />
      <Balance sheet={sheet} />
      <Parts title="Charges by project" who="Project" lines={sheet.projects} />
      <Parts title="Charges by key" who="Key" lines={sheet.keys} />
      <Moves sheet={sheet} />
      {other && <Comparison sheet={sheet} other={other} />}
      <Proof account={account} sheet={sheet} />
    </article>
  );
}

/** Whom the statement is from and for, and of what time. */
function Parties({ sheet }: { readonly sheet: Sheet }) {
  const { company, customer, account, from, to, time_zone, is_running } = sheet;
  return (
    <header className={styles.parties}>
      {company && <Party title="From" party={company} />}
      <Party title="For" party={customer} />
      <dl className={styles.facts}>
        <dt>Account</dt>
        <dd>
          {account.name !== customer.name && account.name}
          {account.email !== null && <> {account.email}</>} <code>{account.id}</code>
        </dd>
        <dt>Period</dt>
        <dd>
          <time>{formatUtc(from).slice(0, -4)}</time> to {is_running && "now, "}
          <time>{formatUtc(to).slice(0, -4)}</time>, {time_zone}
        </dd>
      </dl>
    </header>
  );
}

interface PartyProps {
  readonly title: string;
  readonly party: Sheet["customer"];
}

function Party({ title, party: { name, address, tax_id } }: PartyProps) {
  return (
    <address className={styles.company}>
      <span className={styles.title}>{title}</span>
      <strong>{name}</strong>
      {address !== null && <span>{address}</span>}
      {tax_id !== null && <span>Tax id {tax_id}</span>}
    </address>
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
        {name} {note && <small>{note}</small>}
      </th>
      <td>
        <Money usd={usd} isExact />
      </td>
    </tr>
  );
}
