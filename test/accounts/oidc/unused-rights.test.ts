import { beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { issueKey } from "../../../src/accounts/keys/keys.ts";
import { applyGroupRights } from "../../../src/accounts/oidc/group-rights.ts";
import { type Identity, linkIdentity, touchIdentity } from "../../../src/accounts/oidc/identities.ts";
import { endUnusedRights } from "../../../src/accounts/oidc/unused-rights.ts";
import { NO_SIGN_IN_RULES, type SignInProvider } from "../../../src/domain/sign-in-rules.ts";
import { actionsOf, addMember, addPerson } from "../actors.ts";
import { DIALECTS, storageForTests } from "../temp-storage.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MAIN: SignInProvider = {
  id: "main",
  name: "Main",
  issuer: "https://login.example.com",
  clientId: "tollgate",
  clientSecret: undefined,
  scopes: ["openid"],
  groupsClaim: "groups",
  rights: [],
  domains: undefined,
  sessionMs: 12 * HOUR_MS,
  rightsMs: 30 * DAY_MS,
  confirmBy: "auth_time",
  rpInitiatedLogout: false,
};

describe.each(DIALECTS)("rights of groups without a sign-in, on %s,", (dialect) => {
  const storage = storageForTests(dialect);
  let accountId: string;
  let leaver: Actor;
  let identity: Identity;

  const claimsOf = (subject: string) => ({
    issuer: "https://login.example.com/",
    subject,
    email: undefined,
    isEmailVerified: false,
    name: undefined,
    groups: [],
    provenAtMs: undefined,
    hostedDomain: undefined,
  });
  /** A person whose groups make it an owner of the account and an operator. */
  async function arrive(): Promise<{ person: Actor; identity: Identity }> {
    const { database, now } = storage;
    const person = await addPerson(database);
    const linked = await database.transact(async (tx) => {
      const link = { personId: person.id, provider: "main", claims: claimsOf(person.id), actor: person };
      const row = await linkIdentity(database, tx, link, now());
      const rights = { isOperator: true, roles: new Map([[accountId, "owner" as const]]) };
      await applyGroupRights(database, tx, { identity: row, rights }, now());
      return row;
    });
    const { session } = person;
    return {
      person: { ...person, session: session && { ...session, identityId: linked.id } },
      identity: linked,
    };
  }
  const signInAgain = (row: Identity) => {
    const claims = claimsOf(row.subject);
    const { database, now } = storage;
    return database.transact((tx) =>
      touchIdentity(database, tx, { identity: row, provider: "main", claims }, now()),
    );
  };
  const pass = (more: Partial<SignInProvider> = {}) => {
    const rules = () => ({ ...NO_SIGN_IN_RULES, providers: [{ ...MAIN, ...more }] });
    return endUnusedRights({ ...storage, rules });
  };
  /** Lets days go by, with one pass in each. */
  async function passDays(days: number): Promise<number> {
    let ended = 0;
    for (let day = 0; day < days; day += 1) {
      storage.clock.nowMs += DAY_MS;
      ended += await pass();
    }
    return ended;
  }
  async function rightsOf({ id }: Actor) {
    const { db, tables } = storage.database;
    const [person] = await db.select().from(tables.people).where(eq(tables.people.id, id));
    const members = await db.select().from(tables.members).where(eq(tables.members.personId, id));
    return { isOperator: person?.isOperator, roles: members.map(({ role }) => role) };
  }
  const isInForce = async (keyId: string) => {
    const { db, tables } = storage.database;
    const [key] = await db.select().from(tables.apiKeys).where(eq(tables.apiKeys.id, keyId));
    return key?.revokedAtMs === null;
  };

  const ALL: Awaited<ReturnType<typeof rightsOf>> = { isOperator: true, roles: ["owner"] };
  const NONE: typeof ALL = { isOperator: false, roles: [] };

  beforeEach(async () => {
    accountId = (await storage.newAccount()).id;
    ({ person: leaver, identity } = await arrive());
  });

  test("end after the days of the provider, with the keys made by them, and nothing else", async () => {
    const given = await addMember(storage.database, accountId, "owner");
    const stayer = await arrive();
    const own = await issueKey({ ...storage, actor: leaver }, { accountId, name: "own" });
    const other = await issueKey({ ...storage, actor: given }, { accountId, name: "other" });
    expect(await passDays(29)).toBe(0);
    await signInAgain(stayer.identity);
    expect(await passDays(2)).toBe(1);
    expect(await rightsOf(leaver)).toEqual(NONE);
    expect([await isInForce(own.key.id), await isInForce(other.key.id)]).toEqual([false, true]);
    expect(await rightsOf(stayer.person)).toEqual(ALL);
    expect((await rightsOf(given)).roles).toEqual(["owner"]);
    expect(await actionsOf(storage.database, accountId)).toEqual(
      expect.arrayContaining(["member.removed", "key.revoked"]),
    );
    const { db, tables } = storage.database;
    const isEnd = eq(tables.auditEntries.action, "operator.removed");
    const [entry] = await db.select().from(tables.auditEntries).where(isEnd);
    expect(entry).toMatchObject({ actorName: "groups at main, unused for 30 days", target: leaver.id });
    expect(await pass()).toBe(0);
  });

  test("end once when two gateways pass at once", async () => {
    await passDays(30);
    storage.clock.nowMs += 1;
    await Promise.all([pass(), pass()]);
    expect(await rightsOf(leaver)).toEqual(NONE);
    const actions = await actionsOf(storage.database, accountId);
    expect(actions.filter((action) => action === "member.removed")).toHaveLength(1);
  });

  test("stay without days in the file, and at another issuer", async () => {
    storage.clock.nowMs += 400 * DAY_MS;
    for (let hour = 0; hour < 32; hour += 1) {
      await pass({ rightsMs: undefined });
      await pass({ issuer: "https://other.example.com" });
    }
    expect(await rightsOf(leaver)).toEqual(ALL);
  });

  test("end under an entry of another name for the same issuer", async () => {
    await passDays(30);
    storage.clock.nowMs += 1;
    expect(await pass({ id: "renamed" })).toBe(1);
  });

  test("stay through a clock that is a year ahead for a day, and end in their time after it", async () => {
    await passDays(1);
    storage.clock.nowMs += 365 * DAY_MS;
    for (let hour = 0; hour < 24; hour += 1) {
      storage.clock.nowMs += HOUR_MS;
      expect(await pass()).toBe(0);
    }
    storage.clock.nowMs -= 365 * DAY_MS;
    expect(await passDays(28)).toBe(0);
    expect(await rightsOf(leaver)).toEqual(ALL);
    expect(await passDays(1)).toBe(1);
  });

  test("stay through a clock that is behind, and when a gateway was away", async () => {
    await passDays(20);
    storage.clock.nowMs -= 365 * DAY_MS;
    expect(await pass()).toBe(0);
    storage.clock.nowMs += 365 * DAY_MS;
    await signInAgain(identity);
    storage.clock.nowMs += 29 * DAY_MS;
    for (let hour = 0; hour < 10; hour += 1) expect(await pass()).toBe(0);
    expect(await rightsOf(leaver)).toEqual(ALL);
  });
});
