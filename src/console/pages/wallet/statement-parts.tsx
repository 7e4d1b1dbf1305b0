import { useQuery } from "@tanstack/react-query";
import { plural } from "../../format.ts";
import { Money } from "../../parts/money.tsx";
import { type Sheet, statementDigestQuery } from "../../queries/statement.ts";
import { formatUtc } from "../../times.ts";
import styles from "./statement.module.css";

interface PartsProps {
  readonly title: string;
  readonly who: string;
  readonly lines: Sheet["projects"];
}

const NAMELESS: Readonly<Record<string, string>> = {
  none: "without one",
  dropped_receipts: "receipts that are no longer kept",
};

/** What a line of the charges is for, in words. */
export function nameOfLine({ kind, id, name }: Sheet["keys"][number]): string {
  return name ?? id ?? NAMELESS[kind] ?? kind;
}

/** What parts of the charges were for. */
export function Parts({ title, who, lines }: PartsProps) {
  if (lines.length === 0) return null;
  return (
    <section className={styles.section}>
      <h2>{title}</h2>
      <table className={styles.parts}>
        <thead>
          <tr>
            <th scope="col">{who}</th>
            <th scope="col">Charged</th>
            <th scope="col">Refunded</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={`${line.kind} ${line.id}`}>
              <th scope="row">{nameOfLine(line)}</th>
              <td>
                <Money usd={line.charged_usd} isExact />
              </td>
              <td>
                <Money usd={line.refunded_usd} isExact />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** What was taken off or given back without a request, and why. */
export function Moves({ sheet: { moves } }: { readonly sheet: Sheet }) {
  if (moves.length === 0) return null;
  return (
    <section className={styles.section}>
      <h2>Corrections and reversals</h2>
      <table className={styles.parts}>
        <thead>
          <tr>
            <th scope="col">When, and why</th>
            <th scope="col">Amount</th>
          </tr>
        </thead>
        <tbody>
          {moves.map(({ at, kind, id, amount_usd, reason }) => (
            <tr key={`${kind} ${id}`}>
              <th scope="row">
                {formatUtc(at)}: {kind} <code>{id}</code>
                {reason !== "" && <>, {reason}</>}
              </th>
              <td>
                <Money usd={amount_usd} isExact isSigned />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface ProofProps {
  readonly account: string;
  readonly sheet: Sheet;
}

/** What the file of the transfers comes to, so that paper, file and ledger can be compared. */
export function Proof({ account, sheet }: ProofProps) {
  const { data } = useQuery(statementDigestQuery(account, sheet.month));
  const transfers = plural(sheet.transfers, "transfer");
  if (sheet.is_running) {
    return (
      <p className={styles.proof}>{transfers} so far. The month is not over: its closing is that of now.</p>
    );
  }
  if (!data?.digest) return <p className={styles.proof}>Adding up {transfers}…</p>;
  const { sha256, closing_usd } = data.digest;
  const isSame = closing_usd === sheet.closing_usd && data.digest.transfers === sheet.transfers;
  return (
    <p className={styles.proof} role="status">
      {isSame
        ? `${transfers}, added up one by one, come to the closing balance.`
        : "The transfers do not come to the closing balance. Tell the operator."}{" "}
      SHA-256 of their file: <code>{sha256}</code>
    </p>
  );
}
