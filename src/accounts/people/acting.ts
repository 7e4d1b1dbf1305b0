import { and, eq } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { GatewayError } from "../../errors.ts";
import { printTime } from "../../time.ts";
import { findAccount } from "../accounts.ts";
import type { Actor } from "../actor.ts";
import { recordChange } from "../audit-trail.ts";

const ACTING_MS = 30 * 60_000;

/** A session of an operator inside an account. */
export interface Acting {
  readonly accountId: string;
  readonly accountName: string;
  readonly untilMs: number;
}

/** Whether an operator acts now. An end too far ahead was written before a clock was set back. */
export function isActing({ untilMs }: Pick<Acting, "untilMs">, nowMs: number): boolean {
  return nowMs < untilMs && untilMs - nowMs <= ACTING_MS;
}

interface ActingParts {
  readonly database: Database;
  readonly now: () => number;
}

/**
 * Lets an operator act inside an account for 30 minutes, in this session only. The account's audit trail
 * shows it. Rejects with `unknown_item`, and with `not_permitted` without a session, as for management keys.
 */
export async function beginActing(
  { database, now }: ActingParts,
  actor: Actor,
  { accountId, reason }: { readonly accountId: string; readonly reason: string },
): Promise<Acting> {
  const { session } = actor;
  if (!session) throw new GatewayError("not_permitted");
  const account = await findAccount(database, accountId);
  if (account?.id !== accountId) throw new GatewayError("unknown_item");
  const nowMs = now();
  const untilMs = nowMs + ACTING_MS;
  await setActing(database, actor, { session: session.id, accountId, untilMs }, (tx) => {
    const after = { reason, until: printTime(untilMs) };
    return recordChange(
      database,
      tx,
      { ...actor, acting: { accountId, untilMs } },
      { accountId, action: "account.acting_began", target: accountId, after },
      nowMs,
    );
  });
  return { accountId, accountName: account.name, untilMs };
}

/** Ends the session inside an account. Does nothing without one. */
export async function endActing({ database, now }: ActingParts, actor: Actor): Promise<void> {
  const { session, acting } = actor;
  if (!session || !acting) return;
  const { accountId } = acting;
  await setActing(database, actor, { session: session.id, accountId: null, untilMs: null }, (tx) =>
    recordChange(
      database,
      tx,
      actor,
      { accountId, action: "account.acting_ended", target: accountId },
      now(),
    ),
  );
}

interface NewActing {
  readonly session: string;
  readonly accountId: string | null;
  readonly untilMs: number | null;
}

async function setActing(
  database: Database,
  actor: Actor,
  { session, accountId, untilMs }: NewActing,
  record: (tx: Database["db"]) => Promise<void>,
): Promise<void> {
  const { sessions } = database.tables;
  await database.transact(async (tx) => {
    const changed = await tx
      .update(sessions)
      .set({ actingAccountId: accountId, actingUntilMs: untilMs })
      .where(and(eq(sessions.id, session), eq(sessions.userId, actor.id)))
      .returning({ id: sessions.id });
    if (changed.length === 0) throw new GatewayError("no_session");
    await record(tx);
  });
}
