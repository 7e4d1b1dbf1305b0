import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { updateKey } from "../../src/accounts/keys/key-changes.ts";
import { issueKey } from "../../src/accounts/keys/keys.ts";
import { setMemberLimit } from "../../src/accounts/member-limits.ts";
import { createProject, updateProject } from "../../src/accounts/project-changes.ts";
import { type LimitTarget, limitAmong } from "../../src/accounts/spending-limits.ts";
import { parseUsd } from "../../src/domain/money.ts";
import { addMember } from "../accounts/actors.ts";
import { createLocation, DIALECTS } from "../accounts/temp-storage.ts";
import { CHAT, post } from "../support/client.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const total = (usd: string) => ({ amount: parseUsd(usd), period: "total" }) as const;

describe.each(DIALECTS)("limits that several keys share, on %s", (dialect) => {
  let books: Awaited<ReturnType<typeof createLocation>>;
  let gateway: TestGateway;
  beforeAll(async () => {
    books = await createLocation(dialect);
    gateway = await startTestGateway({ database: books.location });
  });
  afterAll(async () => {
    await gateway.stop();
    await books.drop();
  });

  const send = (secret: string, headers: Record<string, string> = {}) =>
    post(gateway, CHAT, { secret, headers, max_tokens: 50 });
  const child = async (secret: string, usd: string): Promise<{ id: string; secret: string }> => {
    const response = await fetch(`${gateway.url}/v1/key/children`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify({ name: "run", spending_limit_usd: usd }),
    });
    expect(response.status).toBe(200);
    return response.json() as Promise<{ id: string; secret: string }>;
  };
  /** What a limit has used, once nothing is held. */
  const usedOf = async (accountId: string, target: LimitTarget) => {
    await gateway.nothingIsHeld(accountId);
    const limit = limitAmong(await gateway.tollgate.ledger.spendLimits(accountId), target);
    if (!limit) throw new Error("There is no such limit");
    expect(limit.used).toBeLessThanOrEqual(limit.amount);
    return limit;
  };
  /** Sends requests until each secret has been refused, and returns the limits that the refusals named. */
  const exhaust = async (secrets: readonly string[], times: number, headers: Record<string, string> = {}) => {
    const sent = Array.from({ length: times }, (_, at) => send(secrets[at % secrets.length] ?? "", headers));
    const responses = await Promise.all(sent);
    const refused = responses.filter(({ status }) => status === 402);
    expect(responses.filter(({ status }) => status === 200).length + refused.length).toBe(times);
    expect(refused.length).toBeGreaterThan(0);
    await Promise.all(responses.map((response) => response.text()));
    return new Set(refused.map((response) => response.headers.get("x-tollgate-limit")));
  };

  test("300 requests at once on a tree of keys spend no more than the root may", async () => {
    const payer = await gateway.newPayer("5", {
      name: "root",
      allowsChildren: true,
      spendingLimit: total("0.005"),
    });
    const { secret, key } = payer;
    const children = await Promise.all(Array.from({ length: 4 }, () => child(secret, "1")));
    const low = await Promise.all(children.map((each) => child(each.secret, "1")));
    const secrets = [secret, ...children.map((each) => each.secret), ...low.map((each) => each.secret)];
    const named = await exhaust(secrets, 300);
    expect([...named].sort()).toEqual(["key root", "parent_key root"]);
    const { used } = await usedOf(key.accountId, { kind: "key", keyId: key.id });
    const { posted } = await gateway.balances(key.accountId);
    expect(parseUsd("5") - posted).toBe(used);
  });

  test("a child spends no more than its own limit, and leaves the rest to its parent", async () => {
    const payer = await gateway.newPayer("5", {
      name: "root",
      allowsChildren: true,
      spendingLimit: total("1"),
    });
    const { id, secret } = await child(payer.secret, "0.001");
    expect([...(await exhaust([secret], 60))]).toEqual(["key run"]);
    await usedOf(payer.key.accountId, { kind: "key", keyId: id });
    expect((await send(payer.secret)).status).toBe(200);
  });

  test("the keys of a project share its limit; a key that moves leaves it", async () => {
    const payer = await gateway.newPayer("5");
    const { accountId } = payer.key;
    const { tollgate } = gateway;
    const project = await createProject(tollgate, {
      accountId,
      name: "Search",
      spendingLimit: total("0.002"),
    });
    const keys = await Promise.all(
      [1, 2].map(() => gateway.newKey({ accountId, projectId: project.id, allowsChildren: true })),
    );
    const low = await child(keys[0]?.secret ?? "", "1");
    const named = await exhaust([...keys.map(({ secret }) => secret), low.secret], 120);
    expect([...named]).toEqual(["project Search"]);
    await usedOf(accountId, { kind: "project", projectId: project.id });
    expect((await send(payer.secret)).status).toBe(200);
    const [moved] = keys;
    if (!moved) throw new Error("There are two keys");
    await updateKey(tollgate, moved.key, { projectId: null });
    await Bun.sleep(1_100);
    expect((await send(moved.secret)).status).toBe(200);
    expect((await send(low.secret)).status).toBe(200);
  });

  test("the keys that one member made share its limit in all projects, also each member's", async () => {
    const payer = await gateway.newPayer("5");
    const { accountId } = payer.key;
    const { tollgate } = gateway;
    const [ada, bob] = [
      await addMember(tollgate.database, accountId, "developer"),
      await addMember(tollgate.database, accountId, "developer"),
    ];
    await setMemberLimit(tollgate, { accountId, personId: undefined, limit: total("0.003") });
    await setMemberLimit(tollgate, { accountId, personId: ada.id, limit: total("0.001") });
    const project = await createProject(tollgate, { accountId, name: "Search" });
    const issue = (actor: typeof ada, projectId?: string) =>
      issueKey({ ...tollgate, actor }, { accountId, name: "k", projectId });
    const ofAda = [await issue(ada), await issue(ada, project.id)];
    const ofBob = await issue(bob);
    expect([
      ...(await exhaust(
        ofAda.map(({ secret }) => secret),
        60,
      )),
    ]).toEqual(["member Ada"]);
    await usedOf(accountId, { kind: "member", personId: ada.id });
    expect((await send(ofBob.secret)).status).toBe(200);
    expect([...(await exhaust([ofBob.secret], 120))]).toEqual(["member Ada"]);
    const bound = await tollgate.ledger.spendLimits(accountId, ofBob.key.id, [
      { kind: "member", id: bob.id },
    ]);
    const each = bound.find(({ limitId }) => limitId === "each_member");
    expect(each?.subject).toBe(bob.id);
    expect(each?.used).toBeLessThanOrEqual(each?.amount ?? 0n);
    expect((await send(payer.secret)).status).toBe(200);
  });

  test("each end user of a project has a limit by itself", async () => {
    const payer = await gateway.newPayer("5");
    const { accountId } = payer.key;
    const { tollgate } = gateway;
    const project = await createProject(tollgate, { accountId, name: "Shop" });
    await updateProject(tollgate, project, { endUserLimit: { amount: parseUsd("0.001"), period: "5h" } });
    const { secret } = await gateway.newKey({ accountId, projectId: project.id });
    const alice = { "x-tollgate-user": "alice" };
    expect([...(await exhaust([secret], 60, alice))]).toEqual(["end_user alice"]);
    const shown = await fetch(`${gateway.url}/v1/key`, {
      headers: { ...alice, authorization: `Bearer ${secret}` },
    });
    expect(await shown.json()).toMatchObject({
      project: { name: "Shop" },
      spending_limits: [
        { applies_to: "end_user", name: "alice", each: true, period: "5h", limit_usd: "0.001" },
      ],
    });
    expect((await send(secret, { "x-tollgate-user": "bob" })).status).toBe(200);
    expect((await send(secret)).status).toBe(200);
    expect((await send(payer.secret, alice)).status).toBe(200);
  });
});
