// What a project owes by month, for people who read it by a shared link.
import { eq } from "drizzle-orm";
import { findProject } from "../accounts/projects.ts";
import type { Database } from "../db/database.ts";
import { printCsv } from "../domain/csv.ts";
import { HOUR_MS } from "../domain/id-time.ts";
import { printUsd } from "../domain/money.ts";
import { monthOf, readMonth } from "../domain/month.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Chargeback, readChargeback } from "./chargeback.ts";
import { changeOf, NO_TRANSFERS, type TransferSums } from "./month-end.ts";

/** The line of a project in the statement of its account. */
export interface ProjectMonth extends TransferSums {
  /** "2026-11" */
  readonly month: string;
  readonly isRunning: boolean;
  /** Whether no receipt of the month is gone: those that are belong to no project. */
  readonly isComplete: boolean;
}

/** A shared link, or what is needed of it. */
interface LinkOfProject {
  readonly accountId: string;
  readonly project: { readonly id: string } | undefined;
}

interface Parts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "transfers" | "transferTotals">;
  readonly now: () => number;
}

const MONTHS_MAX = 3;
/** A statement sums every transfer of a month: readers of links share it. */
const RUNNING_KEPT_MS = 60_000;
const PAST_KEPT_MS = HOUR_MS;
const KEPT_MAX = 200;

interface KeptStatement {
  readonly untilMs: number;
  readonly statement: Promise<Chargeback>;
}

/** Returns the months of a link's project, and what the project owes for each of them. */
export function createProjectMonths(parts: Parts) {
  const kept = new Map<string, KeptStatement>();

  const readStatement = (accountId: string, name: string): Promise<Chargeback> => {
    const nowMs = parts.now();
    const place = `${accountId} ${name}`;
    const known = kept.get(place);
    if (known && nowMs < known.untilMs && known.untilMs <= nowMs + PAST_KEPT_MS) return known.statement;
    const month = readMonth(name);
    // An hour more: clocks differ, and transfers of the month may come late.
    const keptMs = nowMs < month.toMs + HOUR_MS ? RUNNING_KEPT_MS : PAST_KEPT_MS;
    const statement = readAccount(parts.database, accountId).then((account) =>
      readChargeback(parts, { account, month, by: "project" }),
    );
    kept.delete(place);
    kept.set(place, { untilMs: nowMs + keptMs, statement });
    statement.catch(() => kept.delete(place));
    const [oldest] = kept.keys();
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
    return statement;
  };

  return {
    /** Lists the months, the running one first; none for a link to no project. */
    list: (link: LinkOfProject) => listMonths(parts, link),
    /** Throws `unknown_item` for a month that is not listed. */
    async read(link: LinkOfProject, name: string): Promise<ProjectMonth> {
      if (!(await listMonths(parts, link)).includes(name)) throw new GatewayError("unknown_item");
      const { month, lines } = await readStatement(link.accountId, name);
      const line =
        lines.find(({ kind, id }) => kind === "project" && id === link.project?.id) ?? NO_TRANSFERS;
      const { toppedUp, charged, refunded, expired, other, transfers } = line;
      return {
        ...{ month: name, toppedUp, charged, refunded, expired, other, transfers },
        isRunning: parts.now() < month.toMs,
        isComplete: !lines.some((each) => each.kind === "dropped_receipts" && each.transfers > 0),
      };
    },
  };
}

async function listMonths({ database, now }: Parts, { accountId, project }: LinkOfProject) {
  if (!project) return [];
  const owner = await readAccount(database, accountId);
  const { createdAtMs } = (await findProject(database, owner, project.id)) ?? owner;
  const months = Array.from({ length: MONTHS_MAX }, (_, back) => monthOf(now(), back));
  return months.filter(({ toMs }) => toMs > createdAtMs).map(({ name }) => name);
}

async function readAccount({ db, tables: { accounts } }: Database, id: string) {
  const [row] = await db
    .select({ id: accounts.id, createdAtMs: accounts.createdAtMs })
    .from(accounts)
    .where(eq(accounts.id, id));
  if (!row) throw new GatewayError("unknown_item");
  return row;
}

/** Prints a month for the console. */
export function printProjectMonth({ month, isRunning, isComplete, ...sums }: ProjectMonth) {
  return {
    month,
    is_running: isRunning,
    is_complete: isComplete,
    charged_usd: printUsd(sums.charged),
    refunded_usd: printUsd(sums.refunded),
    other_usd: printUsd(sums.other),
    change_usd: printUsd(changeOf(sums)),
    transfers: sums.transfers,
  };
}

/** Prints a month as CSV with one row. */
export function printMonthCsv(read: ProjectMonth): string {
  const printed = printProjectMonth(read);
  return printCsv(Object.keys(printed), [Object.values(printed).map(String)]);
}
