import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { revokeKey } from "../../../src/accounts/keys/keys.ts";
import { parseUsd } from "../../../src/domain/money.ts";
import { MINUTE_MS } from "../../../src/refusals/refusal.ts";
import { createLocation, DIALECTS } from "../../accounts/temp-storage.ts";
import { CHAT, post } from "../../support/client.ts";
import { gate } from "../../support/script.ts";
import { answerWith } from "../../support/scripted-answers.ts";
import { openTestConsole, type TestConsole } from "../../support/test-console.ts";

/** Requests of this size are refused by a wallet of 0.001 USD. */
const DEAR = { max_tokens: 5_000 };

describe.each(DIALECTS)("refused requests of a gateway on %s", (dialect) => {
  let console: TestConsole;
  let viewer: Actor;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const location = await createLocation(dialect);
    drop = location.drop;
    console = await openTestConsole({
      database: location.location,
      accountLimits: { concurrentRequests: 50 },
    });
  });
  beforeEach(() => console.gateway.upstream.reset());
  afterAll(async () => {
    await console.stop();
    await drop();
  });

  /** Issues a key of a new account, whose viewer calls the console. */
  const payer = async (usd: string, more: Parameters<TestConsole["gateway"]["newPayer"]>[1] = {}) => {
    const { key, secret } = await console.gateway.newPayer(usd, more);
    viewer = await console.newMember(key.accountId, "viewer");
    return { accountId: key.accountId, keyId: key.id, secret };
  };
  const send = (secret: string, more: object = {}) =>
    post(console.gateway, CHAT, { secret, raw: JSON.stringify(CHAT.body(more)) });
  const read = async (accountId: string, path = "") => {
    const answer = await console.call(viewer, "GET", `/accounts/${accountId}/refusals${path}`);
    expect(answer.status).toBe(200);
    return answer.json;
  };
  /** Reads why a response was refused. */
  const why = (accountId: string, response: Response) =>
    read(accountId, `/${response.headers.get("x-request-id")}`);

  test("for an empty wallet name what was needed and available, and that a top-up cures it", async () => {
    const { accountId, keyId, secret } = await payer("0.001");
    const refused = await send(secret, DEAR);
    expect(refused.status).toBe(402);
    const { items, next } = await read(accountId);
    expect(next).toBeNull();
    expect(items).toEqual([
      {
        minute: expect.any(String),
        key_id: keyId,
        key_name: "test",
        model: "chat",
        code: "insufficient_balance",
        cause: "wallet_empty",
        text: "The wallet balance is too low for this request: top up the wallet.",
        count: 1,
        last_request_id: refused.headers.get("x-request-id"),
        needed_usd: refused.headers.get("x-tollgate-needed-usd"),
        available_usd: "0.001",
        needed: { amount: items[0].needed_usd, unit: "usd" },
        had: { amount: "0.001", unit: "usd" },
      },
    ]);
    expect(await why(accountId, refused)).toMatchObject({
      ...items[0],
      exact: true,
      held_by: [],
      cure: "top_up",
      key: { id: keyId, name: "test" },
    });
  });

  test("for money on hold name the requests that held it", async () => {
    const { accountId, secret } = await payer("0.012");
    const { opened, open } = gate();
    console.gateway.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 0, gate: opened } }));
    const running = send(secret, DEAR);
    await console.gateway.upstream.waitForSeen(1);
    const refused = await send(secret, DEAR);
    expect(refused.status).toBe(402);
    // A hold of a moment ends in a later millisecond.
    await Bun.sleep(2);
    open();
    const held = await running;
    const receipt = await console.gateway.receiptOf(held, accountId);
    await console.gateway.nothingIsHeld(accountId);
    // Also after the hold has ended.
    expect(await why(accountId, refused)).toMatchObject({
      cause: "wallet_on_hold",
      cure: "wait",
      held_by: [{ request_id: receipt.holdId, granted_usd: expect.any(String) }],
    });
  });

  test("for a spending limit are cured by raising it", async () => {
    const spendingLimit = { amount: parseUsd("0.000001"), period: "day" } as const;
    const { accountId, secret } = await payer("1", { spendingLimit });
    const refused = await send(secret, DEAR);
    expect(refused.status).toBe(402);
    expect(await why(accountId, refused)).toMatchObject({
      code: "spending_limit_exceeded",
      cause: "spending_limit_short",
      had: { amount: "0.000001", unit: "usd" },
      cure: "raise_limit",
    });
  });

  test("for the requests per minute name limit, use and time to wait", async () => {
    const { accountId, secret } = await payer("1", { limits: { requestsPerMinute: 2 } });
    for (let count = 0; count < 2; count += 1) expect((await send(secret)).status).toBe(200);
    const refused = await send(secret);
    expect(refused.status).toBe(429);
    const detail = await why(accountId, refused);
    expect(detail).toMatchObject({
      code: "rate_limit_exceeded",
      rule: "The limit of the key: at most 2 requests in any 60 seconds.",
      needed: { amount: "1", unit: "requests" },
      had: { amount: "0", unit: "requests" },
      cure: "wait",
      needed_usd: null,
    });
    expect(String(detail.retry_after_s)).toBe(refused.headers.get("retry-after") ?? "");
  });

  test("for the tokens per minute name the tokens that were left", async () => {
    const { accountId, secret } = await payer("1", { limits: { tokensPerMinute: 1_500 } });
    console.gateway.upstream.on("chat", answerWith({ text: "Hi.", usage: { input: 1_000, output: 100 } }));
    expect((await send(secret, { max_tokens: 1_200 })).status).toBe(200);
    const refused = await send(secret, { max_tokens: 1_200 });
    expect(refused.status).toBe(429);
    const detail = await why(accountId, refused);
    expect(detail.rule).toBe("The limit of the key: at most 1500 tokens in any 60 seconds.");
    expect(Number(detail.needed.amount)).toBeGreaterThan(Number(detail.had.amount));
    expect(detail.had.unit).toBe("tokens");
  });

  test("for concurrency name the running request", async () => {
    const { accountId, secret } = await payer("1", { limits: { concurrentRequests: 1 } });
    const { opened, open } = gate();
    console.gateway.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 0, gate: opened } }));
    const running = send(secret);
    await console.gateway.upstream.waitForSeen(1);
    const refused = await send(secret);
    expect(refused.status).toBe(429);
    const detail = await why(accountId, refused);
    open();
    const ended = await running;
    expect(detail).toMatchObject({
      code: "concurrency_exceeded",
      held_by: [{ request_id: ended.headers.get("x-request-id") }],
      cure: "wait",
    });
  });

  test("for a model that the key may not use, or that does not exist, name the model", async () => {
    const { accountId, secret } = await payer("1", { models: ["claude"] });
    const forbidden = await send(secret);
    const unknown = await send(secret, { model: "no-such-model" });
    expect([forbidden.status, unknown.status]).toEqual([403, 404]);
    expect(await why(accountId, forbidden)).toMatchObject({ cause: "model_not_allowed", model: "chat" });
    expect(await why(accountId, unknown)).toMatchObject({ cause: "unknown_model", model: "no-such-model" });
  });

  test("are counted for every cause before the hold, and for none after it", async () => {
    const { accountId, keyId, secret } = await payer("1");
    const raw = (body: string) => post(console.gateway, CHAT, { secret, raw: body });
    expect((await raw("{")).status).toBe(400);
    expect((await raw('{"model":"chat"}')).status).toBe(422);
    console.gateway.upstream.on("chat", answerWith(undefined, { status: 400 }));
    expect((await send(secret)).status).toBe(400);
    console.gateway.upstream.on("chat", answerWith(undefined, { status: 500 }));
    expect((await send(secret)).status).toBe(502);
    expect((await send("sk-tg-unknown")).status).toBe(401);
    const { database } = console.gateway.tollgate;
    await revokeKey({ database }, keyId);
    const deadline = performance.now() + 120_000;
    let revoked = await send(secret);
    while (revoked.status !== 401 && performance.now() < deadline) revoked = await send(secret);
    expect(await why(accountId, revoked)).toMatchObject({ cause: "unknown_key", code: "invalid_api_key" });
    const { items } = await read(accountId);
    const counts = Object.fromEntries(
      items.map((item: { cause: string; count: number }) => [item.cause, item.count]),
    );
    expect(counts).toEqual({ not_json: 1, wrong_shape: 1, unknown_key: 1 });
    const [badShape] = items.filter(({ cause }: { cause: string }) => cause === "wrong_shape");
    expect(badShape.text).toContain("messages");
  });

  test("of a suspended account are counted", async () => {
    const { accountId, secret } = await payer("1");
    const { db, tables } = console.gateway.tollgate.database;
    await db.update(tables.accounts).set({ state: "suspended" }).where(eq(tables.accounts.id, accountId));
    const refused = await send(secret);
    expect(refused.status).toBe(403);
    expect(await why(accountId, refused)).toMatchObject({ cause: "account_suspended", cure: "none" });
  });

  test("that were remembered are counted as well, and found as the nearest of their minute", async () => {
    const { accountId, secret } = await payer("0.001");
    const refused: Response[] = [];
    for (let count = 0; count < 30; count += 1) refused.push(await send(secret, DEAR));
    const { items } = await read(accountId);
    expect(items.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(30);
    const ids = new Set(refused.map(({ headers }) => headers.get("x-request-id")));
    expect(ids.size).toBe(30);
    const first = await why(accountId, refused[0] ?? new Response());
    expect(first).toMatchObject({
      request_id: refused[0]?.headers.get("x-request-id"),
      cause: "wallet_empty",
    });
    expect(await why(accountId, refused[29] ?? new Response())).toMatchObject({ exact: true });
  });

  test("are filtered by key, code and time", async () => {
    const { accountId, keyId, secret } = await payer("0.001");
    await send(secret, DEAR);
    await send(secret, { model: "no-such-model" });
    const causes = async (query: string) =>
      (await read(accountId, query)).items.map(({ cause }: { cause: string }) => cause);
    expect(await causes("?code=insufficient_balance")).toEqual(["wallet_empty"]);
    expect(await causes("?code=no_such_code")).toEqual([]);
    expect(await causes(`?key=${keyId}`)).toHaveLength(2);
    expect(await causes("?key=other")).toEqual([]);
    const hourAgo = new Date(Date.now() - 60 * MINUTE_MS).toISOString();
    expect(await causes(`?to=${hourAgo}`)).toEqual([]);
    const page = await read(accountId, "?size=1");
    expect(page.items).toHaveLength(1);
    expect((await read(accountId, `?size=1&page=${page.next}`)).items).toHaveLength(1);
    for (const bad of ["?page=x", "?page=W10", "?from=yesterday", "?size=0", "?key=%00"]) {
      const answer = await console.call(viewer, "GET", `/accounts/${accountId}/refusals${bad}`);
      expect([bad, answer.status]).toEqual([bad, 422]);
    }
  });

  test("of more than 100 keys in a minute are listed as those of several keys, each explained by its own", async () => {
    const { accountId, keyId } = await payer("0.001");
    const { refusals } = console.parts.gateway();
    const asked = { accountId, model: "chat", requestedModel: "chat", surface: "chat" };
    const rest = { ...asked, text: undefined, retryAfterS: undefined, facts: undefined };
    for (let key = 0; key < 101; key += 1) {
      refusals.note({ requestId: Bun.randomUUIDv7(), keyId: `key-${key}`, cause: "rate_limited", ...rest });
    }
    const requestId = Bun.randomUUIDv7();
    refusals.note({ requestId, keyId, cause: "wallet_empty", ...rest });
    const { items } = await read(accountId, "?code=insufficient_balance");
    expect(items).toMatchObject([{ key_id: "", key_name: "several keys", model: null, count: 1 }]);
    const reason = await read(accountId, `/${requestId}`);
    expect(reason).toMatchObject({ exact: true, key: { id: keyId }, model: "chat" });
    const usage = await console.call(viewer, "GET", `/accounts/${accountId}/usage?by=none&group=project`);
    expect(usage.json.total.refused).toBe(102);
    expect(usage.json.groups.find(({ group }: { group: unknown }) => group === null).refused).toBe(2);
  });

  test("of another account, and requests with a receipt, are not found", async () => {
    const { accountId, secret } = await payer("0.001");
    const refused = await send(secret, DEAR);
    const other = await payer("1");
    const answered = await send(other.secret);
    for (const id of [refused.headers.get("x-request-id"), answered.headers.get("x-request-id"), "x"]) {
      const answer = await console.call(viewer, "GET", `/accounts/${other.accountId}/refusals/${id}`);
      expect(answer.status).toBe(404);
    }
    expect((await console.call(viewer, "GET", `/accounts/${accountId}/refusals`)).status).toBe(404);
  });
});
