import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { type IssuedKey, revokeKey } from "../../src/accounts/keys/keys.ts";
import { connectDatabase, type Database } from "../../src/db/database.ts";
import { type Cause, ERRORS } from "../../src/errors.ts";
import { createLocation, DIALECTS } from "../accounts/temp-storage.ts";
import { CHAT, MESSAGES, post, RESPONSES } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { until } from "../support/until.ts";

/** Ways in which a caller loses access, and the cause that the client gets, without and with a charge. */
const REVOCATIONS: readonly {
  readonly name: string;
  readonly causes: readonly [Cause, Cause];
  end(database: Database, payer: IssuedKey): Promise<unknown>;
}[] = [
  {
    name: "a revoked key",
    causes: ["key_revoked", "key_revoked_charged"],
    end: (database, { key }) => revokeKey({ database }, key.id),
  },
  {
    name: "a deleted key",
    causes: ["key_revoked", "key_revoked_charged"],
    end: async ({ db, tables: { apiKeys } }, { key }) => db.delete(apiKeys).where(eq(apiKeys.id, key.id)),
  },
  {
    name: "a suspended account",
    causes: ["account_suspended", "account_suspended_charged"],
    end: async ({ db, tables: { accounts } }, { key }) =>
      db.update(accounts).set({ state: "suspended" }).where(eq(accounts.id, key.accountId)),
  },
];

describe.each(DIALECTS)("with a ledger in %s", (dialect) => {
  let books: Awaited<ReturnType<typeof createLocation>>;
  let gateway: TestGateway;
  /** The database as another process sees it. */
  let elsewhere: Database;
  beforeAll(async () => {
    books = await createLocation(dialect);
    gateway = await startTestGateway({ database: books.location });
    elsewhere = await connectDatabase(books.location);
  });
  beforeEach(() => gateway.upstream.reset());
  afterAll(async () => {
    await elsewhere.close();
    await gateway.stop();
    await books.drop();
  });

  /** Pauses every upstream answer: a stream after some words, a whole answer before its start. */
  function pauseAnswers(until: Promise<unknown>): void {
    const streamed = answerWith(undefined, { pauseAt: { bytes: 700, gate: until } });
    const whole = answerWith(undefined, { gate: until });
    for (const { model } of [CHAT, MESSAGES]) {
      gateway.upstream.on(model, (request) => (request.stream ? streamed(request) : whole(request)));
    }
  }

  test.each(REVOCATIONS)(
    "$name ends running requests, streamed and whole, with a settlement and the right error",
    async (how) => {
      const [free, charged] = how.causes;
      const payer = await gateway.newPayer("1");
      const { secret, key } = payer;
      const never = gate();
      pauseAnswers(never.opened);
      const surfaces = [CHAT, MESSAGES, RESPONSES] as const;
      const whole = surfaces.map((surface) => ({ surface, pending: post(gateway, surface, { secret }) }));
      const streams = await Promise.all(
        surfaces.map((surface) => post(gateway, surface, { secret, stream: true })),
      );
      expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
      await gateway.upstream.waitForSeen(6);
      await how.end(elsewhere, payer);

      for (const stream of streams) {
        const text = await stream.text();
        expect(text).toContain(ERRORS[charged].message);
        expect(text).toContain(`"${ERRORS[charged].code}"`);
        expect(text).not.toMatch(/\[DONE\]|message_stop|response\.completed/);
        const receipt = await gateway.receiptOf(stream, key.accountId);
        const outcome = { outcome: ERRORS[charged].code, source: "estimated" };
        expect(receipt).toMatchObject({ state: "settled", outcome });
        expect(receipt.captured).toBeGreaterThan(0n);
      }
      for (const { surface, pending } of whole) {
        const response = await pending;
        const { captured } = await gateway.receiptOf(response, key.accountId);
        await expectError(response, surface, captured > 0n ? charged : free);
      }
      await gateway.nothingIsHeld(key.accountId);
      for (const { over } of gateway.upstream.seen) await over;
      expect(gateway.upstream.seen.filter(({ disconnectedAtMs }) => disconnectedAtMs === undefined)).toEqual(
        [],
      );
      never.open();
    },
  );

  test.each(REVOCATIONS)("$name ends a request whose body has not arrived completely", async (how) => {
    const payer = await gateway.newPayer("1");
    gateway.upstream.on("chat", answerWith());
    const bytes = new TextEncoder().encode(JSON.stringify(CHAT.body({})));
    const ended = gate();
    const slowly = new ReadableStream({
      async start(body) {
        body.enqueue(bytes.subarray(0, 10));
        await ended.opened;
        body.enqueue(bytes.subarray(10));
        body.close();
      },
    });
    const pending = fetch(`${gateway.url}${CHAT.path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${payer.secret}` },
      body: slowly,
    });
    // Lets the gateway read the key. Otherwise the request is rejected as any other.
    await Bun.sleep(200);
    await how.end(elsewhere, payer);
    const [cause] = how.causes;
    const refused = cause === "key_revoked" ? "unknown_key" : cause;
    // Waits until the cached key has expired.
    await until(async () => (await post(gateway, CHAT, { secret: payer.secret })).status !== 200);
    ended.open();
    await expectError(await pending, CHAT, refused);
  });

  test("a revoked key does not affect another key of the account or another account", async () => {
    const [doomed, other] = [await gateway.newKey(), await gateway.newPayer("1")];
    const held = gate();
    gateway.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: held.opened } }));
    const secrets = [gateway.secret, other.secret, doomed.secret];
    const streams = await Promise.all(secrets.map((secret) => post(gateway, CHAT, { secret, stream: true })));
    const texts = streams.map((stream) => stream.text());
    await revokeKey({ database: elsewhere }, doomed.key.id);
    expect(await texts[2]).toContain(ERRORS.key_revoked_charged.message);
    held.open();
    expect(await texts[0]).toEndWith("data: [DONE]\n\n");
    expect(await texts[1]).toEndWith("data: [DONE]\n\n");
  });

  test("a request that began before its key expired is finished", async () => {
    const { secret, key } = await gateway.newKey();
    const held = gate();
    gateway.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: held.opened } }));
    const stream = await post(gateway, CHAT, { secret, stream: true });
    const { db, tables } = elsewhere;
    await db.update(tables.apiKeys).set({ expiresAtMs: Date.now() }).where(eq(tables.apiKeys.id, key.id));
    await until(async () => (await post(gateway, MESSAGES, { secret })).status === 401);
    // The keys of running requests are read once a second.
    await Bun.sleep(2_500);
    held.open();
    expect(await stream.text()).toEndWith("data: [DONE]\n\n");
  });
});
