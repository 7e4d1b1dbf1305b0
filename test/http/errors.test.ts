import { describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { revokeKey } from "../../src/accounts/keys/keys.ts";
import { type Cause, ERRORS } from "../../src/errors.ts";
import {
  CHAT,
  MESSAGES,
  post,
  RESPONSES,
  type RequestOptions,
  SURFACES,
  type Surface,
} from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { startTestGateway } from "../support/test-gateway.ts";

const gateway = gatewayForTests();

/** The message of a validation error for a path of the body. */
const shape = (path: string) => `${ERRORS.wrong_shape.message.replace(/\.$/, "")}: ${path}`;

/** One error that a client can cause: its name, the request, the cause, and the exact message. */
type ErrorCase = readonly [
  name: string,
  arrange: (surface: Surface) => Arranged | Promise<Arranged>,
  cause: Cause,
  message?: string,
];

type Arranged = RequestOptions & Readonly<Record<string, unknown>>;

const BODY_CASES: readonly ErrorCase[] = [
  ["an empty body", () => ({ raw: "" }), "not_json"],
  ["a body cut off", () => ({ raw: '{"model":' }), "not_json"],
  ["a body that is not UTF-8", () => ({ raw: Buffer.from('{"model":"\xff\xfe"}', "latin1") }), "not_json"],
  ["an array", () => ({ raw: "[]" }), "wrong_shape"],
  ["null", () => ({ raw: "null" }), "wrong_shape"],
  ["no model", () => ({ model: undefined }), "wrong_shape", shape("model")],
  ["a model that is a number", () => ({ model: 7 }), "wrong_shape", shape("model")],
  ["no messages", () => ({ messages: undefined }), "wrong_shape", shape("messages")],
  ["messages that are empty", () => ({ messages: [] }), "wrong_shape", shape("messages")],
  [
    "a message without a role",
    () => ({ messages: [{ role: "user", content: "hi" }, { content: "hi" }] }),
    "wrong_shape",
    shape("messages[1].role"),
  ],
  ["stream as a word", () => ({ stream: "yes" }), "wrong_shape", shape("stream")],
  ["an output limit below 0", () => ({ max_tokens: -1 }), "wrong_shape", shape("max_tokens")],
  ["an output limit of 1.5", () => ({ max_tokens: 1.5 }), "wrong_shape", shape("max_tokens")],
  [
    "a service tier without a price",
    () => ({ service_tier: "priority" }),
    "unpriced_field",
    `${ERRORS.unpriced_field.message.replace(/\.$/, "")}: service_tier`,
  ],
  ["an unknown model", () => ({ model: "nobody" }), "unknown_model"],
  ["a model whose name is a member of every object", () => ({ model: "constructor" }), "unknown_model"],
];

const KEY_CASES: readonly ErrorCase[] = [
  ["an unknown key", () => ({ secret: "sk-tg-unknown" }), "unknown_key"],
  ["an empty key", () => ({ headers: { authorization: "Bearer " } }), "unknown_key"],
  ["another scheme", () => ({ headers: { authorization: `Basic ${gateway.secret}` } }), "unknown_key"],
  [
    "an expired key",
    async () => ({ secret: (await gateway.newKey({ expiresAtMs: Date.now() - 1 })).secret }),
    "unknown_key",
  ],
  [
    "a revoked key",
    async () => {
      const { key, secret } = await gateway.newKey();
      await revokeKey({ database: gateway.tollgate.database }, key.id);
      return { secret };
    },
    "unknown_key",
  ],
  [
    "a model the key may not use",
    async () => ({ secret: (await gateway.newKey({ models: ["other"] })).secret }),
    "model_not_allowed",
  ],
  [
    "a suspended account",
    async () => {
      const { key, secret } = await gateway.newPayer("1");
      const { db, tables } = gateway.tollgate.database;
      const isPayer = eq(tables.accounts.id, key.accountId);
      await db.update(tables.accounts).set({ state: "suspended" }).where(isPayer);
      return { secret };
    },
    "account_suspended",
  ],
  ["an empty wallet", async () => ({ secret: (await gateway.newPayer("0")).secret }), "wallet_empty"],
  [
    "a used-up spending limit",
    async () => {
      const spendingLimit = { amount: 0n, period: "total" as const };
      return { secret: (await gateway.newPayer("1", { spendingLimit })).secret };
    },
    "spending_limit",
  ],
  [
    "a spending limit and a wallet that are both short",
    async () => {
      const spendingLimit = { amount: 0n, period: "day" as const };
      return { secret: (await gateway.newPayer("0", { spendingLimit })).secret };
    },
    "spending_limit",
  ],
  [
    "a request larger than a minute admits",
    async () => ({ secret: (await gateway.newKey({ limits: { tokensPerMinute: 100 } })).secret }),
    "too_many_tokens",
  ],
  [
    "no request per minute",
    async () => ({ secret: (await gateway.newKey({ limits: { requestsPerMinute: 0 } })).secret }),
    "rate_limited",
  ],
  [
    "no slot",
    async () => ({ secret: (await gateway.newKey({ limits: { concurrentRequests: 0 } })).secret }),
    "too_concurrent",
  ],
  [
    "neither request nor slot",
    async () => {
      const limits = { requestsPerMinute: 0, concurrentRequests: 0 };
      return { secret: (await gateway.newKey({ limits })).secret };
    },
    "rate_limited",
  ],
];

describe.each([CHAT, MESSAGES, RESPONSES])("the envelope of an error, on $path,", (surface) => {
  const headers = { "anthropic-version": "2023-06-01" };

  test("is that of the path, also for a client that sends anthropic-version", async () => {
    await expectError(await post(gateway, surface, { headers, model: "nobody" }), surface, "unknown_model");
    await expectError(await post(gateway, surface, { headers, secret: "sk-tg-x" }), surface, "unknown_key");
    const below = await fetch(`${gateway.url}${surface.path}/x`, { method: "PUT", headers });
    await expectError(below, surface, "unknown_route");
  });
});

describe.each(["/v1/models", "/v1/key", "/v1/receipts/x", "/v1/nothing"])(
  "the envelope of an error, on %s,",
  (path) => {
    test("is that of messages for a client that sends anthropic-version, and that of chat otherwise", async () => {
      const cause = path === "/v1/nothing" ? "unknown_route" : "unknown_key";
      await expectError(await fetch(`${gateway.url}${path}`), CHAT, cause);
      const headers = { "anthropic-version": "2023-06-01" };
      await expectError(await fetch(`${gateway.url}${path}`, { headers }), MESSAGES, cause);
    });
  },
);

describe("a body with a content-encoding", () => {
  test.each(["gzip", "zstd", "br", "deflate", "identity, gzip", "x-none"])(
    "of %s is rejected",
    async (encoding) => {
      for (const surface of [CHAT, MESSAGES, RESPONSES]) {
        const raw = Bun.gzipSync(JSON.stringify(surface.body()));
        const headers = { "content-encoding": encoding };
        await expectError(await post(gateway, surface, { raw, headers }), surface, "encoded_body");
        await expectError(
          await post(gateway, surface, { raw, headers, secret: "sk-tg-x" }),
          surface,
          "unknown_key",
        );
      }
      expect(gateway.upstream.seen).toBeEmpty();
    },
  );

  test.each(["identity", "Identity", ""])("of %p is accepted", async (encoding) => {
    const headers = { "content-encoding": encoding };
    expect((await post(gateway, CHAT, { headers })).status).toBe(200);
  });
});

describe.each(SURFACES)("$path", (surface) => {
  test.each([...BODY_CASES, ...KEY_CASES])(
    "rejects %s",
    async (...[, arrange, cause, message]: ErrorCase) => {
      const response = await post(gateway, surface, await arrange(surface));
      await expectError(response, surface, cause, message === undefined ? {} : { message });
      expect(gateway.upstream.seen).toBeEmpty();
    },
  );

  test("rejects a request without a key", async () => {
    const init = { method: "POST", body: JSON.stringify(surface.body()) };
    await expectError(await fetch(`${gateway.url}${surface.path}`, init), surface, "unknown_key");
  });

  test("declines a request with wallet_on_hold while another request holds the money", async () => {
    // Enough for one request with the least output limit, not for two.
    const { secret, key } = await gateway.newPayer("0.0021");
    const holds = Promise.withResolvers<void>();
    gateway.upstream.on(surface.model, answerWith(undefined, { gate: holds.promise }));
    const first = post(gateway, surface, { secret });
    await gateway.upstream.waitForSeen(1);
    await expectError(await post(gateway, surface, { secret }), surface, "wallet_on_hold");
    holds.resolve();
    expect((await first).status).toBe(200);
    await gateway.nothingIsHeld(key.accountId);
    expect((await post(gateway, surface, { secret })).status).toBe(200);
  });

  test("rejects a body when too many bytes are in flight", async () => {
    const small = await startTestGateway({ config: { bodyBytesInFlightMax: 1000 } });
    const raw = JSON.stringify(surface.body({ padding: "x".repeat(1000) }));
    await expectError(await post(small, surface, { raw }), surface, "too_many_body_bytes");
    expect((await post(small, surface)).status).toBe(200);
    await small.stop();
  });
});
