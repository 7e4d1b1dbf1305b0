import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Nanos } from "../../../domain/money.ts";
import { printUsd } from "../../../domain/money.ts";
import { formatPercent, readUsd } from "../../format.ts";
import { Select } from "../../parts/filters.tsx";
import { Money } from "../../parts/money.tsx";
import type { Sheet } from "../../queries/statement.ts";
import { statementsQuery } from "../../queries/wallet.ts";
import { withSearch } from "../../search.ts";
import { formatMonth } from "../../times.ts";
import styles from "./statement.module.css";
import { nameOfLine } from "./statement-parts.tsx";

/** "November 2026"; what is no month stays as it is. */
export function nameOfMonth(month: string): string {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(month) ? formatMonth(month) : month;
}

interface CompareWithProps {
  readonly account: string;
  readonly month: string;
  readonly chosen: string | undefined;
}

/** Chooses the month that a statement is compared with. The URL holds it. */
export function CompareWith({ account, month, chosen }: CompareWithProps) {
  const navigate = useNavigate();
  const { data } = useQuery(statementsQuery(account));
  const others = (data?.items ?? []).map((each) => each.month).filter((each) => each !== month);
  if (others.length === 0) return null;
  return (
    <Select
      label="Compare with"
      value={chosen ?? ""}
      options={[
        { value: "", text: "no month" },
        ...others.map((each) => ({ value: each, text: nameOfMonth(each) })),
      ]}
      onChange={(value) =>
        void navigate({ to: ".", search: withSearch({ with: value || undefined }), replace: true })
      }
    />
  );
}

/** What a project or key was charged less refunds in two months. */
interface Line {
  readonly id: string;
  readonly name: string;
  readonly now: Nanos;
  readonly before: Nanos;
}

interface ComparisonProps {
  readonly sheet: Sheet;
  readonly other: Sheet;
}

/** The charges less refunds of two months, in total, by project and by key, the largest change first. */
export function Comparison({ sheet, other }: ComparisonProps) {
  const total = { id: "total", name: "All charges less refunds", now: netOf(sheet), before: netOf(other) };
  return (
    <section className={styles.section}>
      <h2>Compared with {nameOfMonth(other.month)}</h2>
      {(sheet.is_running || other.is_running) && (
        <p className={styles.proof}>The running month is compared as far as it has come.</p>
      )}
      <Changes who="Total" lines={[total]} sheet={sheet} other={other} />
      <Changes who="Project" lines={join(sheet.projects, other.projects)} sheet={sheet} other={other} />
      <Changes who="Key" lines={join(sheet.keys, other.keys)} sheet={sheet} other={other} />
    </section>
  );
}

interface ChangesProps extends ComparisonProps {
  readonly who: string;
  readonly lines: readonly Line[];
}

function Changes({ who, lines, sheet, other }: ChangesProps) {
  return (
    <table className={styles.parts}>
      <thead>
        <tr>
          <th scope="col">{who}</th>
          <th scope="col">{nameOfMonth(other.month)}</th>
          <th scope="col">{nameOfMonth(sheet.month)}</th>
          <th scope="col">Change</th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ id, name, now, before }) => (
          <tr key={id}>
            <th scope="row">{name}</th>
            <td>
              <Money usd={printUsd(before)} isExact />
            </td>
            <td>
              <Money usd={printUsd(now)} isExact />
            </td>
            <td>
              <Money usd={printUsd(now - before)} isExact isSigned /> <small>{changeText(now, before)}</small>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function netOf({
  charged_usd,
  refunded_usd,
}: {
  readonly charged_usd: string;
  readonly refunded_usd: string;
}): Nanos {
  return readUsd(charged_usd) - readUsd(refunded_usd);
}

/** Joins the lines of two months; one that only one of them has was nothing in the other. */
function join(now: Sheet["keys"], before: Sheet["keys"]): readonly Line[] {
  const idOf = ({ kind, id }: Sheet["keys"][number]) => `${kind} ${id}`;
  const all = new Map([...before, ...now].map((line) => [idOf(line), line]));
  const sums = (lines: Sheet["keys"]) => new Map(lines.map((line) => [idOf(line), netOf(line)]));
  const [nowSums, beforeSums] = [sums(now), sums(before)];
  const lines = [...all].map(([id, line]) => ({
    id,
    name: nameOfLine(line),
    now: nowSums.get(id) ?? 0n,
    before: beforeSums.get(id) ?? 0n,
  }));
  const changed = ({ now: one, before: other }: Line) => (one > other ? one - other : other - one);
  return lines.toSorted((one, other) => Number(changed(other) - changed(one)));
}

function changeText(now: Nanos, before: Nanos): string {
  if (before === 0n) return now === 0n ? "" : "new";
  const share = Number(now - before) / Number(before);
  return `${share > 0 ? "+" : ""}${formatPercent(share).replace("-", "−")}`;
}
