// What transfers say beside their ids.
import { and, eq, inArray } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type JournalLine, PAGE_SIZE_MAX } from "../ledger/records.ts";
import { CORRECTED, hasReason, TOPPED_UP } from "./bookings.ts";

const ENDED = /^expiry-(\d+)-\d+$/;

/**
 * What transfers say beside their ids: the reasons of corrections and of what gives them back, and of ends of credits
 * the ids of those. */
export async function findTransferNotes(
  { database, ledger }: { readonly database: Database; readonly ledger: Pick<Ledger, "credits"> },
  accountId: string,
  lines: readonly JournalLine[],
): Promise<ReadonlyMap<string, string>> {
  const idsOf = (wanted: JournalLine["kind"]) =>
    lines.filter(({ kind }) => kind === wanted).map(({ transferId }) => transferId);
  const ids = lines.filter(hasReason).map(({ transferId }) => transferId);
  const reasons = await findReasons(database, accountId, ids);
  const ended = idsOf("credit_expiry");
  if (ended.length === 0) return reasons;
  const { items } = await ledger.credits(accountId, { size: PAGE_SIZE_MAX });
  const names = new Map(items.map(({ seq, creditId }) => [`${seq}`, creditId]));
  const endsOf = (id: string) => names.get(ENDED.exec(id)?.[1] ?? "");
  return new Map([...reasons, ...ended.map((id) => [id, endsOf(id) ?? ""] as const)]);
}

/** The reasons of corrections, and of what gives them back, by their ids. */
export async function findReasons(
  { db, tables: { auditEntries } }: Database,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ id: auditEntries.target, after: auditEntries.after })
    .from(auditEntries)
    .where(
      and(
        eq(auditEntries.accountId, accountId),
        inArray(auditEntries.action, [CORRECTED, TOPPED_UP]),
        inArray(auditEntries.target, [...ids]),
      ),
    );
  return new Map(rows.map(({ id, after }) => [id, reasonIn(after)]));
}

function reasonIn(after: string | null): string {
  const { reason }: { reason?: unknown } = JSON.parse(after ?? "{}");
  return typeof reason === "string" ? reason : "";
}
