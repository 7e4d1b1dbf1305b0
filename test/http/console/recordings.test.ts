import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import type { Account } from "../../../src/accounts/accounts.ts";
import { forgetEndUser } from "../../../src/accounts/attribution/forget.ts";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { type IssuedKey, issueKey, revokeKey } from "../../../src/accounts/keys/keys.ts";
import { findManagementKey, issueManagementKey } from "../../../src/accounts/keys/management-keys.ts";
import { parseUsd } from "../../../src/domain/money.ts";
import { sweepRecordings } from "../../../src/recordings/store.ts";
import { addMember, addPerson } from "../../accounts/actors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { answer } from "../../support/script.ts";
import { answerWith } from "../../support/scripted-answers.ts";
import { testConfig } from "../../support/test-config.ts";
import type { TestConsole } from "../../support/test-console.ts";
import { until } from "../../support/until.ts";
import { openConsoleOn } from "./open-consoles.ts";

const DAY_MS = 86_400_000;
const [FIRST, SECOND] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString("base64"));
const BOUNDS = { accountBytes: 1024 * 1024, totalBytes: 4 * 1024 * 1024 };
const PLATFORM = { accountId: undefined, role: "operator" } as const;

describe.each(DIALECTS)("the bodies of requests on %s", (dialect) => {
  let console: TestConsole;
  /** The keys of the operator, which a reload replaces. */
  const operatorKeys: string[] = [];
  let account: Account;
  let owner: Actor;
  beforeAll(async () => {
    operatorKeys.push(FIRST ?? "");
    const { console: base } = testConfig("", {});
    const config = {
      console: {
        ...base,
        get recordingKeys() {
          return [...operatorKeys];
        },
      },
    };
    console = await openConsoleOn(dialect, {}, { config });
    account = await console.newAccount();
    owner = await console.newMember(account.id, "owner");
    await topUp(account.id);
  });
  afterAll(() => console.stop());
  beforeEach(() => {
    operatorKeys.splice(0, 9, FIRST ?? "");
    console.gateway.upstream.reset();
  });

  const topUp = (walletId: string) =>
    console.parts.ledger.topUp({ walletId, topUpId: "t", amount: parseUsd("10") });
  const newKey = (accountId = account.id) => issueKey(console.parts, { accountId, name: "k" });
  const rules = (more: object = {}) => ({
    version: 1,
    until: new Date(Date.now() + DAY_MS).toISOString(),
    kept_hours: 24,
    keeps_media: false,
    patterns: ["email", "card", "secret"],
    expressions: [],
    ...more,
  });
  const keyPath = (id: string, rest = "/recording") => `/accounts/${account.id}/keys/${id}${rest}`;
  const put = (id: string, more: object = {}, actor = owner) =>
    console.call(actor, "PUT", keyPath(id), rules(more));
  const newRecorder = async (more: object = {}): Promise<IssuedKey> => {
    const issued = await newKey();
    expect((await put(issued.key.id, more)).status).toBe(200);
    return issued;
  };
  const send = (secret: string, more: object = {}, path = "/v1/chat/completions") =>
    fetch(`${console.gateway.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "chat",
        max_tokens: 100,
        messages: [{ role: "user", content: "I am ada@example.com" }],
        ...more,
      }),
    });
  const recordingOf = (id: string, actor: Actor | undefined = owner, accountId = account.id) =>
    console.call(actor, "GET", `/accounts/${accountId}/requests/${id}/recording`);
  const open = (id: string, actor: Actor | undefined = owner, accountId = account.id) =>
    console.call(actor, "POST", `/accounts/${accountId}/requests/${id}/recording/open`, {});
  /** Sends a request, and returns its id when its bodies are kept. */
  const record = async (secret: string, more: object = {}, path?: string): Promise<string> => {
    const response = await send(secret, more, path);
    await response.text();
    const id = response.headers.get("x-request-id") ?? "";
    await until(async () => (await rowOf(id)) !== undefined);
    return id;
  };
  const rowOf = async (requestId: string) => {
    const { recordings } = console.parts.database.tables;
    const [row] = await console.parts.database.db
      .select()
      .from(recordings)
      .where(eq(recordings.requestId, requestId));
    return row;
  };
  const trail = async (action: string, target: string) => {
    const { db, tables } = console.parts.database;
    const { auditEntries } = tables;
    return db
      .select()
      .from(auditEntries)
      .where(and(eq(auditEntries.action, action), eq(auditEntries.target, target)));
  };
  /** Resolves when everything that this account's requests left is written. */
  const settled = async () => {
    const { key, secret } = await newRecorder();
    await record(secret);
    await console.call(owner, "DELETE", keyPath(key.id, "/recordings"));
  };

  test("a key records nothing until somebody of its account switches it on", async () => {
    const { key, secret } = await newKey();
    const view = (await console.call(owner, "GET", keyPath(key.id))).json;
    expect(view).toMatchObject({ is_on: false, is_available: true, until: null, count: 0 });
    const response = await send(secret);
    expect(response.headers.get("x-tollgate-recorded")).toBeNull();
    await settled();
    expect((await recordingOf(response.headers.get("x-request-id") ?? "")).status).toBe(404);
  });

  test.each([false, true])("body and answer are kept, redacted; streamed: %p", async (stream) => {
    const { key, secret } = await newRecorder({ expressions: ["code \\d+"] });
    const output = { text: "Write to bob@example.com with code 77.", usage: { input: 1, output: 9 } };
    console.gateway.upstream.on("chat", answerWith(output));
    const response = await send(secret, { stream });
    const sent = await response.text();
    expect(sent).toContain(stream ? "bob" : "bob@example.com");
    const id = response.headers.get("x-request-id") ?? "";
    await until(async () => (await rowOf(id)) !== undefined);
    const shown = (await recordingOf(id)).json;
    expect(shown.key_id).toBe(key.id);
    expect(shown.expires_at).toBe(response.headers.get("x-tollgate-recorded") ?? "");
    const { content } = (await open(id)).json;
    expect(content).toMatchObject({ surface: "chat", outcome: "ok", redacted: 3 });
    expect(JSON.parse(content.request.text).messages[0].content).toBe("I am [redacted: email]");
    expect(content.request.text).not.toContain(secret);
    expect(JSON.parse(content.answer.text).choices[0].message.content).toBe(
      "Write to [redacted: email] with [redacted: rule 1].",
    );
    expect(await trail("recording.read", id)).toHaveLength(1);
    expect(await trail("key.recording_set", key.id)).toHaveLength(1);
  });

  test("a request that fails after its hold is kept with its outcome", async () => {
    const { secret } = await newRecorder();
    console.gateway.upstream.on("chat", answer({ status: 500, body: "{}" }));
    const { content } = (await open(await record(secret))).json;
    expect(content).toMatchObject({ outcome: "upstream_unavailable", answer: { text: "" } });
    console.gateway.upstream.reset();
  });

  test("nobody but the account's owners and developers sees bodies, and no operator", async () => {
    const { secret, key } = await newRecorder();
    const id = await record(secret);
    const other = await console.newAccount();
    const stranger = await console.newMember(other.id, "owner");
    const acting = { accountId: account.id, untilMs: Date.now() + 3_600_000 };
    const platformKey: Partial<Actor> = { kind: "management_key", session: undefined };
    const developer = await console.newMember(account.id, "developer");
    const refused: [Actor | undefined, number][] = [
      [await console.newMember(account.id, "viewer"), 403],
      [console.newOperator({ acting }), 403],
      [console.newOperator(platformKey), 403],
      [console.newOperator(), 404],
      [stranger, 404],
    ];
    for (const [actor, status] of refused) {
      expect((await recordingOf(id, actor)).status).toBe(status);
      expect((await open(id, actor)).status).toBe(status);
      const path = `/accounts/${account.id}/requests/${id}/recording`;
      expect((await console.call(actor, "DELETE", path)).status).toBe(status);
      expect((await put(key.id, { version: 2 }, actor)).status).toBe(status);
      expect((await console.call(actor, "DELETE", keyPath(key.id, "/recordings"))).status).toBe(status);
    }
    expect(
      (await console.call(undefined, "POST", `/accounts/${account.id}/requests/${id}/recording/open`, {}))
        .status,
    ).toBe(401);
    // The id of another account's request, asked for in one's own.
    expect((await open(id, stranger, other.id)).status).toBe(404);
    expect((await open(id, developer)).status).toBe(200);
    // A developer changes the keys that it created.
    expect((await put(key.id, { version: 2 }, developer)).status).toBe(403);
    expect(
      (await console.call(developer, "DELETE", `/accounts/${account.id}/requests/${id}/recording`)).status,
    ).toBe(403);
    expect((await trail("recording.read", id)).map(({ actorId }) => actorId)).toEqual([developer.id]);
  });

  test("a key of the account that a key of the platform made sees no bodies, and one of an owner does", async () => {
    const { secret } = await newRecorder();
    const id = await record(secret);
    const { parts } = console;
    const operator = await addPerson(parts.database, { isOperator: true });
    const member = await addMember(parts.database, account.id, "owner");
    const issue = async (maker: Actor, accountId?: string) => {
      const scope = accountId ? ({ accountId, role: "owner" } as const) : PLATFORM;
      const issued = await issueManagementKey(parts, maker, { ...scope, name: "ci", expiresAtMs: undefined });
      const found = await findManagementKey(parts.database, issued.secret, Date.now());
      if (!found) throw new Error("The key is not found");
      return found;
    };
    const platform = await issue(operator);
    const made = await issue(platform, account.id);
    const own = await issue(member, account.id);
    const second = await issue(own, account.id);
    const below = await issue(made, account.id);
    const statuses = [platform, made, below, own, second].map(async (each) => (await open(id, each)).status);
    expect(await Promise.all(statuses)).toEqual([403, 403, 403, 200, 200]);
  });

  test("a row of the database opens only at its own place", async () => {
    const { secret } = await newRecorder();
    const [one, other] = [await record(secret), await record(secret)];
    const { db, tables } = console.parts.database;
    const sealed = (await rowOf(one))?.sealed ?? "";
    await db.update(tables.recordings).set({ sealed }).where(eq(tables.recordings.requestId, other));
    expect((await open(other)).json.content).toBeNull();
    expect((await open(one)).json.content).not.toBeNull();
    const text = JSON.stringify(await db.select().from(tables.recordings));
    for (const plain of ["example.com", '"messages', secret]) expect(text).not.toContain(plain);
  });

  test("another key of the operator encrypts from now on, and the former one still decrypts", async () => {
    const { secret } = await newRecorder();
    const before = await record(secret);
    operatorKeys.splice(0, 1, SECOND ?? "", FIRST ?? "");
    const after = await record(secret);
    expect((await rowOf(after))?.masterId).not.toBe((await rowOf(before))?.masterId ?? "");
    for (const id of [before, after]) expect((await open(id)).json.content).not.toBeNull();
    operatorKeys.splice(1, 1);
    expect((await open(before)).json.content).toBeNull();
    operatorKeys.splice(0, 1, FIRST ?? "");
  });

  test("without a key of the operator nothing is switched on or kept", async () => {
    const { key, secret } = await newRecorder();
    operatorKeys.splice(0);
    const refused = await put(key.id, { version: 2 });
    expect([refused.status, refused.json.error.message]).toEqual([
      501,
      expect.stringContaining("RECORDING_KEYS"),
    ]);
    expect((await console.call(owner, "GET", keyPath(key.id))).json.is_available).toBe(false);
    const response = await send(secret);
    expect(response.headers.get("x-tollgate-recorded")).toBeNull();
    expect((await put(key.id, { version: 2, until: null })).status).toBe(200);
    operatorKeys.push(FIRST ?? "");
  });

  test.each([
    ["until", { until: new Date(Date.now() + 8 * DAY_MS).toISOString() }],
    ["until", { until: new Date(Date.now() - 1).toISOString() }],
    ["kept_hours", { kept_hours: 169 }],
    ["kept_hours", { kept_hours: 0 }],
    ["patterns[0]", { patterns: ["phone"] }],
    ["expressions[1]", { expressions: ["a", "(?=a)b"] }],
    ["expressions[0]", { expressions: ["a*"] }],
    ["expressions", { expressions: Array(6).fill("a") }],
  ])("a wrong %s is refused", async (path, more) => {
    const { key } = await newKey();
    const refused = await put(key.id, more);
    expect(refused.status).toBe(422);
    expect(refused.json.error.message).toContain(path);
    expect((await put(key.id, { version: 9 })).status).toBe(409);
  });

  test("recording ends at its time, when it is switched off, and with the key", async () => {
    const { database } = console.parts;
    const { apiKeys } = database.tables;
    const isOff = async ({ key, secret }: IssuedKey, end: () => Promise<unknown>) => {
      // The answer begins while the key records; its end comes after.
      const output = { text: "slow", usage: { input: 1, output: 1 } };
      console.gateway.upstream.on("chat", answerWith(output));
      const before = await record(secret);
      await end();
      const response = await send(secret);
      await response.text();
      await settled();
      expect(await rowOf(response.headers.get("x-request-id") ?? "")).toBeUndefined();
      // What was kept before stays until its own end.
      expect((await open(before)).status).toBe(200);
      expect((await console.call(owner, "GET", keyPath(key.id))).json.is_on).toBe(false);
    };
    const switched = await newRecorder();
    await isOff(switched, () => put(switched.key.id, { version: 2, until: null }));
    const ended = await newRecorder();
    await isOff(ended, async () => {
      const [row] = await database.db.select().from(apiKeys).where(eq(apiKeys.id, ended.key.id));
      const recording = row?.recording ? { ...row.recording, untilMs: Date.now() - 1 } : null;
      await database.db.update(apiKeys).set({ recording }).where(eq(apiKeys.id, ended.key.id));
    });
    const revoked = await newRecorder();
    await isOff(revoked, () => revokeKey(console.parts, revoked.key.id));
  });

  test("a recording is hidden at the end of its time, and deleted by the next sweep", async () => {
    const { secret } = await newRecorder();
    const id = await record(secret);
    const { db, tables } = console.parts.database;
    await db
      .update(tables.recordings)
      .set({ expiresAtMs: Date.now() })
      .where(eq(tables.recordings.requestId, id));
    expect((await open(id)).status).toBe(404);
    await sweepRecordings(console.parts.database, { bounds: BOUNDS, nowMs: Date.now() });
    expect(await rowOf(id)).toBeUndefined();
  });

  test("one recording is deleted, or all of a key, with an entry in the audit trail", async () => {
    const { key, secret } = await newRecorder();
    const ids = [await record(secret), await record(secret), await record(secret)];
    const [one = "", other = ""] = ids;
    const kept = await rowOf(other);
    const path = `/accounts/${account.id}/requests/${one}/recording`;
    expect((await console.call(owner, "DELETE", path)).json).toEqual({ deleted: 1 });
    expect((await console.call(owner, "DELETE", path)).status).toBe(404);
    expect(await trail("recording.deleted", one)).toHaveLength(1);
    expect((await console.call(owner, "GET", keyPath(key.id))).json).toMatchObject({ count: 2, is_on: true });
    expect((await console.call(owner, "DELETE", keyPath(key.id, "/recordings"))).json).toEqual({
      deleted: 2,
    });
    expect(await trail("key.recordings_deleted", key.id)).toHaveLength(1);
    // A row that came back, as from a backup, stays unreadable: its salt is gone.
    if (kept) await console.parts.database.db.insert(console.parts.database.tables.recordings).values(kept);
    expect((await open(other)).json.content).toBeNull();
    // The key goes on recording once gateways have its new salt, and revoking it keeps no one from deleting.
    await until(async () => {
      await (await send(secret)).text();
      return (await console.call(owner, "GET", keyPath(key.id))).json.count > 1;
    });
    await revokeKey(console.parts, key.id);
    const { deleted } = (await console.call(owner, "DELETE", keyPath(key.id, "/recordings"))).json;
    expect(deleted).toBeGreaterThan(1);
    expect((await console.call(owner, "GET", keyPath(key.id))).json).toMatchObject({
      count: 0,
      is_on: false,
    });
  });

  test("an account keeps its newest recordings within its bytes, and takes none of another", async () => {
    const { database } = console.parts;
    const { recordingBytes } = database.tables;
    const bytesOf = async (id: string) =>
      (await database.db.select().from(recordingBytes).where(eq(recordingBytes.accountId, id)))[0]?.bytes ??
      0;
    const neighbour = await console.newAccount();
    await topUp(neighbour.id);
    const quiet = await newKey(neighbour.id);
    const itsOwner = await console.newMember(neighbour.id, "owner");
    await console.call(itsOwner, "PUT", `/accounts/${neighbour.id}/keys/${quiet.key.id}/recording`, rules());
    const itsId = await record(quiet.secret);
    const { secret, key } = await newRecorder({ patterns: [] });
    const noise = () => Array.from({ length: 300 }, () => Bun.randomUUIDv7("base64url")).join(" ");
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1)
      ids.push(await record(secret, { messages: [{ role: "user", content: noise() }] }));
    const each = ((await rowOf(ids[0] ?? ""))?.bytes ?? 0) + 1_000;
    await sweepRecordings(database, { bounds: { ...BOUNDS, totalBytes: each * 2 }, nowMs: Date.now() });
    expect(await bytesOf(account.id)).toBeLessThanOrEqual(each * 2 - (await bytesOf(neighbour.id)));
    expect(await rowOf(ids[0] ?? "")).toBeUndefined();
    expect(await rowOf(ids[2] ?? "")).toBeDefined();
    expect(await rowOf(itsId)).toBeDefined();
    await console.call(owner, "DELETE", keyPath(key.id, "/recordings"));
    expect(await bytesOf(neighbour.id)).toBeGreaterThan(0);
  });

  test("forgetting an end user deletes the recordings of the account, also of what still runs", async () => {
    const { secret, key } = await newRecorder();
    const { apiKeys } = console.parts.database.tables;
    const id = await record(secret, { user: "ada" });
    const saltOf = async () =>
      (await console.parts.database.db.select().from(apiKeys).where(eq(apiKeys.id, key.id)))[0]?.recording
        ?.salt;
    const before = await saltOf();
    const forget = async () => ({ receipts: 0, running: 0 });
    await forgetEndUser({ ...console.parts, forget }, owner, { accountId: account.id, endUser: "ada" });
    expect(await rowOf(id)).toBeUndefined();
    // A request that began with the earlier salt is not stored.
    expect(await saltOf()).not.toBe(before);
  });

  test("large bodies are cut, and files are replaced by their type and length", async () => {
    const { secret, key } = await newRecorder();
    const url = `data:image/png;base64,iVBORw0KGgo${"A".repeat(3_000_000)}`;
    const content = [
      { type: "image_url", image_url: { url } },
      { type: "text", text: "é".repeat(400_000) },
    ];
    const id = await record(secret, { messages: [{ role: "user", content }] });
    const { request } = (await open(id)).json.content;
    expect(request.text).toContain("[image/png, 3000011 characters of base64]");
    expect(request).toMatchObject({ is_cut: true });
    expect(request.length).toBeGreaterThan(3_800_000);
    expect(request.text.length).toBeLessThanOrEqual(256 * 1024);
    expect(request.text.length).toBeGreaterThan(250_000);
    await console.call(owner, "DELETE", keyPath(key.id, "/recordings"));
  });

  test("a database that does not take recordings costs no request, no money and no end", async () => {
    const { secret } = await newRecorder();
    const { database } = console.parts;
    const { recordingBytes } = database.tables;
    await database.transact((tx) =>
      tx.delete(recordingBytes).where(eq(recordingBytes.accountId, account.id)),
    );
    const real = database.transact;
    const logged = console.gateway.log.text().length;
    Object.assign(database, { transact: () => Promise.reject(new Error("disk full")) });
    const response = await send(secret);
    expect(response.status).toBe(200);
    await response.text();
    await until(() => console.gateway.log.text().slice(logged).includes("recordings lost"));
    Object.assign(database, { transact: real });
    const receipt = await console.gateway.receiptOf(response, account.id);
    expect(receipt.state).toBe("settled");
    expect(await rowOf(receipt.holdId)).toBeUndefined();
    await record(secret);
  });
});
