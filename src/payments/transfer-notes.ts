// What transfers say beside their ids.
import { and, inArray } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type JournalLine, PAGE_SIZE_MAX, pagesOf } from "../ledger/records.ts";
import { CORRECTED, hasReason, TOPPED_UP } from "./bookings.ts";

const ENDED = /^expiry-(\d+)-\d+$/;

interface NoteParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "credits">;
}

/**
 * What transfers say beside their ids: the reasons of corrections and of what gives them back, and of ends of credits
 * the ids of those.
 */
export async function findTransferNotes(
  { database, ledger }: NoteParts,
  accountId: string,
  lines: readonly JournalLine[],
): Promise<ReadonlyMap<string, string>> {
  const ids = lines.filter(hasReason).map(({ transferId }) => transferId);
  const notes = new Map(await findReasons(database, accountId, ids));
  const credits = createCreditNames(ledger, accountId);
  for (const line of lines) {
    if (line.kind === "credit_expiry") notes.set(line.transferId, await credits.endedBy(line));
  }
  return notes;
}

/** Returns what one transfer after the other says beside its id, for a statement of any length. */
export function createNoteReader({ database, ledger }: NoteParts, accountId: string) {
  const credits = createCreditNames(ledger, accountId);
  return async (line: JournalLine): Promise<string | undefined> => {
    if (line.kind === "credit_expiry") return credits.endedBy(line);
    if (!hasReason(line)) return undefined;
    return (await findReasons(database, accountId, [line.transferId])).get(line.transferId);
  };
}

/** Names the credits of a wallet, which are read page by page, the newest first, as far as they are asked for. */
function createCreditNames(ledger: NoteParts["ledger"], accountId: string) {
  const names = new Map<number, string>();
  const pages = pagesOf((token) => ledger.credits(accountId, { size: PAGE_SIZE_MAX, token }));
  return {
    async endedBy({ transferId }: JournalLine): Promise<string> {
      const seq = Number(ENDED.exec(transferId)?.[1]);
      while (!names.has(seq)) {
        const { done, value } = await pages.next();
        if (done) break;
        for (const credit of value.items) names.set(credit.seq, credit.creditId);
      }
      return names.get(seq) ?? "";
    },
  };
}

/** The reasons of corrections, and of what gives them back, by their ids. */
export async function findReasons(
  { db, tables: { auditEntries } }: Database,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const { accountId: owner, action, target, after } = auditEntries;
  // By the index of targets: with the account among the conditions, SQLite would read all of its trail.
  const rows = await db
    .select({ id: target, after, owner })
    .from(auditEntries)
    .where(and(inArray(action, [CORRECTED, TOPPED_UP]), inArray(target, [...ids])));
  const own = rows.filter((row) => row.owner === accountId);
  return new Map(own.map((row) => [row.id, reasonIn(row.after)]));
}

function reasonIn(after: string | null): string {
  const { reason }: { reason?: unknown } = JSON.parse(after ?? "{}");
  return typeof reason === "string" ? reason : "";
}
