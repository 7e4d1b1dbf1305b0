import { beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { addMember } from "../../accounts/actors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { consoleForTests } from "./open-consoles.ts";

const RULE = { kind: "balance_below", threshold: "10", emails: ["ann@example.com"], webhook_url: null };

describe.each(DIALECTS)("on %s", (dialect) => {
  const console = consoleForTests(dialect);
  let account: string;
  let owner: Actor;
  beforeEach(async () => {
    account = (await console.newAccount()).id;
    const { database } = console.parts;
    // An address is one person's, and each test has an Ann of its own.
    await database.db
      .delete(database.tables.people)
      .where(eq(database.tables.people.email, "ann@example.com"));
    owner = await addMember(database, account, "owner");
    await addMember(database, account, "viewer", { email: "ann@example.com" });
  });

  const call = (method: string, path: string, body?: unknown, actor: Actor | undefined = owner) =>
    console.call(actor, method, `/accounts/${account}${path}`, body);

  test("a rule is created, listed, changed and deleted; an older version gets 409 with the current rule", async () => {
    const { status, json: rule } = await call("POST", "/notice-rules", RULE);
    expect(status).toBe(200);
    expect(rule).toMatchObject({
      threshold: "10.00",
      emails: ["ann@example.com"],
      version: 1,
      is_raised: false,
    });
    const path = `/notice-rules/${rule.id}`;
    expect((await call("PATCH", path, { version: 1, threshold: "20" })).json).toMatchObject({
      threshold: "20.00",
      version: 2,
    });
    const paused = await call("PATCH", path, { version: 2, is_paused: true });
    expect(paused.json).toMatchObject({ is_paused: true, threshold: "20.00", version: 3 });
    const late = await call("PATCH", path, { version: 1, threshold: "30" });
    expect([late.status, late.json.error.code, late.json.current.threshold]).toEqual([
      409,
      "conflict",
      "20.00",
    ]);
    expect((await call("GET", "/notice-rules")).json.items).toHaveLength(1);
    expect((await call("DELETE", path)).status).toBe(200);
    expect((await call("DELETE", path)).status).toBe(404);
  });

  test.each([
    [{ ...RULE, emails: ["victim@e.com\r\nBcc: evil@e.com"] }],
    [{ ...RULE, emails: ["a@e.com,evil@e.com"] }],
    [{ ...RULE, threshold: "-1" }],
    [{ ...RULE, threshold: "0.0000000001" }],
    [{ ...RULE, kind: "key_limit", threshold: "101" }],
    [{ ...RULE, kind: "credit_ends", threshold: "0" }],
    [{ ...RULE, kind: "key_limit", threshold: "1.5" }],
    [{ ...RULE, webhook_url: "http://hooks.example.com/" }],
    [{ ...RULE, webhook_url: "https://169.254.169.254/" }],
    [{ ...RULE, kind: "other" }],
  ])("%j is refused", async (rule) => expect((await call("POST", "/notice-rules", rule)).status).toBe(422));

  test("a rule mails nobody but members with a confirmed address, unless an operator enters another", async () => {
    const { database } = console.parts;
    await addMember(database, account, "viewer", { email: "new@example.com", emailVerified: false });
    const other = (await console.newAccount()).id;
    await addMember(database, other, "owner", { email: "elsewhere@example.com" });
    for (const email of ["stranger@example.com", "new@example.com", "elsewhere@example.com"]) {
      const refused = await call("POST", "/notice-rules", { ...RULE, emails: ["ANN@example.com", email] });
      expect([email, refused.status]).toEqual([email, 422]);
    }
    const { json: rule } = await call("POST", "/notice-rules", RULE);
    const path = `/notice-rules/${rule.id}`;
    const strange = { version: 1, emails: [...RULE.emails, "stranger@example.com"] };
    expect((await call("PATCH", path, strange)).status).toBe(422);
    const acting = { accountId: account, untilMs: Date.now() + 60_000 };
    const operator = console.newOperator({ acting });
    expect((await call("PATCH", path, strange, operator)).status).toBe(200);
    // An address that an operator has entered stays, when somebody else changes the rule.
    const kept = await call("PATCH", path, { ...strange, version: 2, threshold: "5" });
    expect(kept.json.emails).toEqual(strange.emails);
  });

  test("a rule of another account is 404, whatever is done with it", async () => {
    const { json: rule } = await call("POST", "/notice-rules", RULE);
    const other = (await console.newAccount()).id;
    const stranger = await console.newMember(other, "owner");
    const foreign = `/accounts/${other}/notice-rules/${rule.id}`;
    const answers = await Promise.all([
      console.call(stranger, "PATCH", foreign, { version: 1 }),
      console.call(stranger, "DELETE", foreign),
      console.call(stranger, "POST", `${foreign}/test`),
      console.call(stranger, "GET", `${foreign}/secret`),
      console.call(stranger, "GET", `${foreign}/deliveries`),
      console.call(stranger, "GET", `/accounts/${account}/notices`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
    const { json: notice } = await call("POST", `/notice-rules/${rule.id}/test`);
    const read = await console.call(stranger, "POST", `/accounts/${other}/notices/${notice.id}/read`);
    expect(read.status).toBe(404);
  });

  test("a test of a rule is listed, delivered and marked as read, and is throttled", async () => {
    const { json: rule } = await call("POST", "/notice-rules", RULE);
    for (let count = 0; count < 6; count++) {
      expect((await call("POST", `/notice-rules/${rule.id}/test`)).status).toBe(200);
    }
    expect((await call("POST", `/notice-rules/${rule.id}/test`)).status).toBe(429);
    const first = (await call("GET", "/notices?size=4")).json;
    expect([first.items.length, first.unread]).toEqual([4, 6]);
    const second = (await call("GET", `/notices?size=4&page=${first.next}`)).json;
    expect([second.items.length, second.next]).toEqual([2, null]);
    const read = await call("POST", `/notices/${first.items[0].id}/read`);
    expect(read.json).toMatchObject({ kind: "test", read_at: expect.any(String) });
    expect((await call("GET", "/notices")).json.unread).toBe(5);
    expect((await call("GET", `/notice-rules/${rule.id}/deliveries`)).json.items).toHaveLength(6);
  });

  test("a viewer sees the origin of a webhook alone, and neither secret nor changes", async () => {
    const { json: rule } = await call("POST", "/notice-rules", {
      ...RULE,
      webhook_url: "https://e.example/s3cr3t",
    });
    const viewer = await console.newMember(account, "viewer");
    const { text } = await call("GET", "/notice-rules", undefined, viewer);
    expect(text).toContain('"https://e.example"');
    expect(text).not.toContain("s3cr3t");
    expect((await call("GET", `/notice-rules/${rule.id}/secret`, undefined, viewer)).status).toBe(403);
    expect((await call("POST", "/notice-rules", RULE, viewer)).status).toBe(403);
  });

  test("only operators watch upstreams", async () => {
    const upstreams = { ...RULE, kind: "upstream_errors", threshold: "50" };
    expect((await call("POST", "/notice-rules", upstreams)).status).toBe(403);
    const operator = { ...owner, isOperator: true };
    expect((await call("POST", "/notice-rules", upstreams, operator)).status).toBe(200);
  });

  test("a shared link shows usage without a session, until it is revoked, and names only when allowed", async () => {
    const expires_at = new Date(Date.now() + 86_400_000).toISOString();
    const { status, json } = await call("POST", "/links", { shows_names: false, expires_at });
    expect(status).toBe(200);
    const token = json.url.split("/").at(-1);
    const shown = await console.call(undefined, "GET", `/shared/${token}`);
    expect(shown.status).toBe(200);
    expect(shown.json).toMatchObject({
      account_name: null,
      key_name: null,
      usage: { total: { requests: 0 } },
    });
    const { tables, db } = console.parts.database;
    expect(JSON.stringify(await db.select().from(tables.sharedLinks))).not.toContain(token);
    expect((await call("GET", "/links")).text).not.toContain(token);
    const other = await console.newMember((await console.newAccount()).id, "owner");
    const [, , foreign] = [0, 0, `/accounts/${other.id}/links/${json.link.id}`];
    expect((await console.call(other, "DELETE", foreign)).status).toBe(404);
    await call("DELETE", `/links/${json.link.id}`);
    expect((await console.call(undefined, "GET", `/shared/${token}`)).status).toBe(404);
    expect((await console.call(undefined, "GET", "/shared/shl-x")).status).toBe(404);
  });

  test.each([
    ["the past", -1],
    ["two years", 2 * 366 * 86_400_000],
  ])("a shared link that expires in %s is refused", async (_, ms) => {
    const expires_at = new Date(Date.now() + ms).toISOString();
    expect((await call("POST", "/links", { shows_names: true, expires_at })).status).toBe(422);
    const key = crypto.randomUUID();
    const later = new Date(Date.now() + 86_400_000).toISOString();
    expect((await call("POST", "/links", { key, shows_names: true, expires_at: later })).status).toBe(404);
  });
});
