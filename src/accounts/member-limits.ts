import { and, eq } from "drizzle-orm";
import type { Database, Db } from "../db/database.ts";
import { GatewayError } from "../errors.ts";
import { platform } from "../platform.ts";
import { COMMAND_LINE, recordChange } from "./audit-trail.ts";
import { type ProjectParts, requireOwnerRights } from "./project-changes.ts";
import {
  describeSpendingLimit,
  limitAmong,
  putSpendingLimit,
  requireTimeZone,
  type SpendingLimit,
  whileLeased,
} from "./spending-limits.ts";

/** The limit of one member, over all keys that the person made, or without a person that of each member. */
export interface MemberLimitChange {
  readonly accountId: string;
  readonly personId: string | undefined;
  /** Null removes the limit, also that of a person who is no member any more. */
  readonly limit: SpendingLimit | null;
}

/**
 * Sets or removes a limit of members; the later of two changes wins. Rejects with `unknown_item` for the limit of a
 * person who is no member, and with `conflict` while another edit of it runs.
 */
export async function setMemberLimit(
  parts: ProjectParts,
  { accountId, personId, limit }: MemberLimitChange,
): Promise<void> {
  const { database, ledger, now = platform.now, actor = COMMAND_LINE } = parts;
  const target =
    personId === undefined ? ({ kind: "each_member" } as const) : { kind: "member" as const, personId };
  requireTimeZone(limit);
  await whileLeased(parts, `member-limit:${accountId}:${personId ?? ""}`, async () => {
    const earlier = limitAmong(await ledger.spendLimits(accountId), target);
    await database.transact(async (tx) => {
      await requireOwnerRights(database, tx, actor, accountId);
      if (personId !== undefined && !earlier) await requireMember(database, tx, { accountId, personId });
      const change = {
        action: personId === undefined ? "account.each_member_limit_changed" : "member.limit_changed",
        target: personId ?? accountId,
        before: describeSpendingLimit(earlier),
        after: describeSpendingLimit(limit),
      };
      await recordChange(database, tx, actor, { accountId, ...change }, now());
    });
    // After its entry: no limit changes without one.
    await putSpendingLimit(ledger, accountId, target, limit);
  });
}

async function requireMember(
  { tables: { members } }: Database,
  tx: Db,
  { accountId, personId }: { readonly accountId: string; readonly personId: string },
): Promise<void> {
  const isRow = and(eq(members.accountId, accountId), eq(members.personId, personId));
  const [member] = await tx.select({ id: members.personId }).from(members).where(isRow);
  if (!member) throw new GatewayError("unknown_item");
}
