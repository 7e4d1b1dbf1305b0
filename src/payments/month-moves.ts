// What was taken off a wallet or given back in a month without a request: corrections, reversals and their returns.
import { and, eq, inArray, isNotNull } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { chunksOf } from "../domain/chunks.ts";
import type { Month } from "../domain/month.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type JournalLine, PAGE_SIZE_MAX, readToEnd } from "../ledger/records.ts";
import { RETURNED } from "./bookings.ts";
import { findReasons } from "./transfer-notes.ts";

/** Money that was taken off or given back without a request, and why. */
export interface Move {
  readonly kind: "correction" | "reversal" | "return";
  readonly line: JournalLine;
  readonly reason: string;
}

interface Parts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "transfers">;
}

/** Ids of one query. */
const IDS_MAX = 500;

/** Reads the corrections, reversals and returns of a month, the oldest first. */
export async function readMoves(
  { database, ledger }: Parts,
  accountId: string,
  month: Month,
): Promise<readonly Move[]> {
  const lines = (await readLines(ledger, accountId, month)).filter(isCandidate);
  const moves: Move[] = [];
  for (const some of chunksOf(lines, IDS_MAX)) {
    const ids = some.map(({ transferId }) => transferId);
    const [reversals, reasons] = await Promise.all([
      findReversals(database, accountId, some.map(baseOf)),
      findReasons(database, accountId, ids),
    ]);
    for (const line of some) {
      const kind = kindOf(line, reversals.has(baseOf(line)));
      if (kind) moves.push({ kind, line, reason: reasons.get(line.transferId) ?? "" });
    }
  }
  return moves;
}

/** There are few top-ups and corrections beside charges, and an index of them. */
function readLines(
  ledger: Parts["ledger"],
  accountId: string,
  { fromMs, toMs }: Month,
): Promise<readonly JournalLine[]> {
  const range = { fromMs, toMs, kinds: ["top_up", "correction"], order: "oldest_first" } as const;
  return readToEnd((token) => ledger.transfers(accountId, { size: PAGE_SIZE_MAX, token }, range));
}

function isCandidate({ kind, transferId }: JournalLine): boolean {
  return kind === "correction" || transferId.endsWith(RETURNED);
}

/** The id of the reversal that a line would be of. */
function baseOf({ kind, transferId }: JournalLine): string {
  return kind === "top_up" ? transferId.slice(0, -RETURNED.length) : transferId;
}

/** A top-up by an operator may have any id: only what a stored reversal gave back is a return. */
function kindOf({ kind }: JournalLine, isReversal: boolean): Move["kind"] | undefined {
  if (kind === "correction") return isReversal ? "reversal" : "correction";
  return isReversal ? "return" : undefined;
}

/** Returns those of these ids that an account's reversals at Stripe or by signed calls have. */
async function findReversals(
  { db, tables: { reversals, signedPayments } }: Database,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const [stripe, signed] = await Promise.all([
    db
      .select({ id: reversals.id })
      .from(reversals)
      .where(and(eq(reversals.accountId, accountId), inArray(reversals.id, [...ids]))),
    db
      .select({ id: signedPayments.id })
      .from(signedPayments)
      .where(
        and(
          eq(signedPayments.accountId, accountId),
          inArray(signedPayments.id, [...ids]),
          isNotNull(signedPayments.paymentId),
        ),
      ),
  ]);
  return new Set([...stripe, ...signed].map(({ id }) => id));
}
