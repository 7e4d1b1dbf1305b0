// The end of rights that groups gave to people who sign in at their provider no more.
import { and, asc, eq, inArray, isNotNull, lt, max, or } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { DAY_MS } from "../../domain/id-time.ts";
import { isSameIssuer, type SignInProvider, type SignInRules } from "../../domain/sign-in-rules.ts";
import type { AuditActor } from "../audit-trail.ts";
import { endGroupRights } from "./group-rights.ts";
import type { Identity } from "./identities.ts";

/** The name of the shared value that has the time of the last pass. */
const PASS = "unused_rights_pass";
/** A pass is at most so much later than the one before: a clock that jumps ahead is noticed before it ends much. */
const STEP_MAX_MS = DAY_MS;

interface PassParts {
  readonly database: Database;
  readonly rules: () => SignInRules;
  readonly now: () => number;
}

/**
 * Ends the rights of groups, with what was made by them, of identities without a sign-in for the `rights_days` of their
 * provider. Several gateways may do so at once. Returns how many identities were found.
 */
export async function endUnusedRights({ database, rules, now }: PassParts): Promise<number> {
  const { providers } = rules();
  const spans = providers.flatMap(({ rightsMs }) => rightsMs ?? []);
  if (spans.length === 0) return 0;
  const passMs = await stepTo(database, now());
  let ended = 0;
  for (const identity of await findUnused(database, passMs - Math.min(...spans))) {
    const { id, rightsMs } = providerOf(providers, identity) ?? {};
    if (rightsMs === undefined || identity.lastUsedAtMs >= passMs - rightsMs) continue;
    const name = `groups at ${id}, unused for ${rightsMs / DAY_MS} days`;
    const actor: AuditActor = { kind: "system", id: "system", name };
    if (await endRights(database, { identity, actor }, now())) ended += 1;
  }
  return ended;
}

/** Moves the time of the passes towards the clock, by a day at most, or back to it. It begins at the newest sign-in. */
async function stepTo({ transact, tables }: Database, nowMs: number): Promise<number> {
  const { sharedValues, identities } = tables;
  return transact(async (tx) => {
    const [stored] = await tx.select().from(sharedValues).where(eq(sharedValues.name, PASS));
    const [newest] = await tx.select({ atMs: max(identities.lastUsedAtMs) }).from(identities);
    const lastMs = Number(stored?.value ?? newest?.atMs ?? nowMs);
    const passMs = Math.min(nowMs, lastMs + STEP_MAX_MS);
    const value = String(passMs);
    const write = tx.insert(sharedValues).values({ name: PASS, value });
    await write.onConflictDoUpdate({ target: sharedValues.name, set: { value } });
    return passMs;
  });
}

/** Finds the identities with a right by groups that were used before a time last. */
async function findUnused({ db, tables }: Database, beforeMs: number): Promise<readonly Identity[]> {
  const { identities, members, people } = tables;
  const ofMembers = db.select({ id: members.identityId }).from(members).where(isNotNull(members.identityId));
  const { operatorIdentityId } = people;
  const ofOperators = db.select({ id: operatorIdentityId }).from(people).where(isNotNull(operatorIdentityId));
  const hasRights = or(inArray(identities.id, ofMembers), inArray(identities.id, ofOperators));
  const isUnused = and(lt(identities.lastUsedAtMs, beforeMs), hasRights);
  return db.select().from(identities).where(isUnused).orderBy(asc(identities.lastUsedAtMs));
}

/** The entry of the last sign-in, or another one of its issuer: a renamed entry bounds those too who came before. */
function providerOf(providers: readonly SignInProvider[], { issuer, provider }: Identity) {
  const own = providers.filter((each) => isSameIssuer(each.issuer, issuer));
  return own.find(({ id }) => id === provider) ?? own[0];
}

/** Returns `false` for an identity that was used, or unlinked, since it was found. */
async function endRights(
  database: Database,
  { identity, actor }: { readonly identity: Identity; readonly actor: AuditActor },
  nowMs: number,
): Promise<boolean> {
  const { identities } = database.tables;
  const { id, lastUsedAtMs } = identity;
  return database.transact(async (tx) => {
    // Locks the row, as a sign-in does before it reads the groups.
    const isSame = and(eq(identities.id, id), eq(identities.lastUsedAtMs, lastUsedAtMs));
    const locked = await tx.update(identities).set({ lastUsedAtMs }).where(isSame).returning();
    if (locked.length === 0) return false;
    await endGroupRights(database, tx, { identity, actor }, nowMs);
    return true;
  });
}
