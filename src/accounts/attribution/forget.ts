import { and, eq, like } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { nameOfEndUser } from "../../domain/scope.ts";
import { platform } from "../../platform.ts";
import { type AuditActor, recordChange } from "../audit-trail.ts";
import { deleteAccountRecordings } from "../keys/key-recording.ts";
import { createEndUserHash } from "./end-user-names.ts";
import { forgetInNotices } from "./forget-notices.ts";

const PSEUDONYM_BYTES = 8;

/** An end user whose name is to be replaced. */
interface Forgetting {
  readonly walletId: string;
  /** As receipts name the end user. */
  readonly endUser: string;
  readonly pseudonym: string;
}

interface Forgotten {
  /** Receipts whose name was replaced. */
  readonly receipts: number;
  /** Running requests, whose receipts keep the name. */
  readonly running: number;
}

/** Replaces a name on receipts, in sums of usage and in counters of limits. */
export type ForgetEndUser = (forgetting: Forgetting) => Promise<Forgotten>;

interface ForgetParts {
  readonly database: Database;
  readonly now: () => number;
  readonly forget: ForgetEndUser;
}

/**
 * Replaces the name of an end user of an account by a new pseudonym, wherever it is kept: as it was sent, and as its
 * hash. Recordings of the account are deleted. The audit entry has the pseudonym alone.
 */
export async function forgetEndUser(
  { database, now, forget }: ForgetParts,
  actor: AuditActor,
  { accountId, endUser }: { readonly accountId: string; readonly endUser: string },
): Promise<Forgotten & { readonly pseudonym: string }> {
  const pseudonym = `deleted-${platform.randomBytes(PSEUDONYM_BYTES).toString("hex")}`;
  const names = [nameOfEndUser(endUser), await createEndUserHash(database)(accountId, endUser)];
  let [receipts, running] = [0, 0];
  for (const name of names) {
    const forgetting = { walletId: accountId, endUser: name, pseudonym };
    const done = await forget(forgetting);
    receipts += done.receipts;
    running += done.running;
    await forgetRefusals(database, forgetting);
    await forgetInNotices(database, forgetting);
  }
  // The text of any body may name the end user.
  await deleteAccountRecordings(database, accountId);
  await database.transact((tx) => {
    const change = {
      accountId,
      action: "end_user.forgotten",
      target: pseudonym,
      after: { receipts, running },
    };
    return recordChange(database, tx, actor, change, now());
  });
  return { receipts, running, pseudonym };
}

/** Refused requests name the limit that refused, and so whom it counted. */
async function forgetRefusals(
  database: Database,
  { walletId, endUser, pseudonym }: Forgetting,
): Promise<void> {
  const { refusedRequests: table } = database.tables;
  const isNamed = and(eq(table.accountId, walletId), like(table.facts, '%"end_user"%'));
  const [before, after] = [printScope(endUser), printScope(pseudonym)];
  const rows = await database.db.select().from(table).where(isNamed);
  for (const { minuteMs, keyId, cause, model, gatewayId, facts } of rows) {
    if (!facts.includes(before)) continue;
    const isRow = and(
      eq(table.accountId, walletId),
      eq(table.minuteMs, minuteMs),
      eq(table.keyId, keyId),
      eq(table.cause, cause),
      eq(table.model, model),
      eq(table.gatewayId, gatewayId),
    );
    await database.transact(async (tx) => {
      await tx
        .update(table)
        .set({ facts: facts.replaceAll(before, after) })
        .where(isRow);
    });
  }
}

/** A scope as the facts of a refused request have it. */
function printScope(id: string): string {
  return JSON.stringify({ kind: "end_user", id });
}
