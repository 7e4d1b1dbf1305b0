import { describe, expect, test } from "bun:test";
import { connect as connectTcp } from "node:net";
import { credentials } from "@grpc/grpc-js";
import { type Ledger, LedgerError, type LedgerErrorCode } from "../../src/ledger/ledger.ts";
import { LedgerListenError, serveLedger } from "../../src/ledger-grpc/server/server.ts";
import { holdIdOf } from "../ledger/samples.ts";
import { createCaller, failureOf, serve, stubLedger, TOKEN, tokenOf } from "./served.ts";

const HOLD = { walletId: "acme", holdId: holdIdOf("h1"), keyId: "k1", amountNanos: 7, ttl: { seconds: 60 } };

function decliningLedger(reason: LedgerErrorCode): Ledger {
  return stubLedger({ hold: () => Promise.reject(new LedgerError(reason)) });
}

describe("a call", () => {
  test("is answered with amounts beyond 2^53", async () => {
    await using served = await serve();
    const { wallet, balances } = await served.call("GetWallet", { walletId: "acme" });
    expect(String(balances.postedNanos)).toBe("9007199254740993");
    expect(wallet).toMatchObject({ walletId: "acme", state: "WALLET_STATE_ACTIVE" });
  });

  test("passes the whole request to the ledger", async () => {
    const requests: unknown[] = [];
    const ledger = stubLedger({
      async hold(request, options) {
        requests.push(request, options);
        return { granted: 5n, balances: { posted: 1n, held: 5n, available: -4n }, replayed: true };
      },
    });
    await using served = await serve({ ledger });
    const answer = await served.call(
      "CreateHold",
      { ...HOLD, minimumNanos: 2 },
      { deadline: Date.now() + 60_000 },
    );
    expect(requests[0]).toMatchObject({ walletId: "acme", amount: 7n, minimum: 2n, ttlMs: 60_000 });
    const { deadlineMs } = requests[1] as { deadlineMs: number };
    expect(deadlineMs).toBeGreaterThan(Date.now());
    expect(deadlineMs).toBeLessThanOrEqual(Date.now() + 60_000);
    expect(answer).toMatchObject({ replayed: true, hold: { state: "HOLD_STATE_UNSPECIFIED", keyId: "k1" } });
    expect(String(answer.hold.grantedNanos)).toBe("5");
  });

  test("with a timeout of the hold ends at the earlier of both deadlines", async () => {
    let deadlineMs = 0;
    const ledger = stubLedger({
      async hold({ amount }, options) {
        deadlineMs = options?.deadlineMs ?? 0;
        return { granted: amount, balances: { posted: 0n, held: 0n, available: 0n }, replayed: false };
      },
    });
    await using served = await serve({ ledger });
    await served.call("CreateHold", { ...HOLD, timeout: { seconds: 1 } }, { deadline: Date.now() + 60_000 });
    expect(deadlineMs).toBeLessThanOrEqual(Date.now() + 1_000);
  });

  test.each([
    [
      "insufficient_balance",
      "FAILED_PRECONDITION",
      "PreconditionFailure",
      { violations: [{ type: "INSUFFICIENT_BALANCE", subject: `wallets/acme/holds/${HOLD.holdId}` }] },
    ],
    [
      "spending_limit_exceeded",
      "RESOURCE_EXHAUSTED",
      "QuotaFailure",
      { violations: [{ subject: "wallets/acme/keys/k1" }] },
    ],
    ["conflict", "ALREADY_EXISTS", "ResourceInfo", { resourceName: `wallets/acme/holds/${HOLD.holdId}` }],
    [
      "wallet_not_found",
      "NOT_FOUND",
      "ResourceInfo",
      { resourceType: "tollgate.ledger/Wallet", resourceName: "wallets/acme" },
    ],
    [
      "wallet_frozen",
      "FAILED_PRECONDITION",
      "PreconditionFailure",
      { violations: [{ type: "WALLET_FROZEN" }] },
    ],
    ["invalid_amount", "INVALID_ARGUMENT", "BadRequest", { fieldViolations: [{ field: "minimum_nanos" }] }],
    ["invalid_id", "INVALID_ARGUMENT", "BadRequest", { fieldViolations: [{ field: "hold_id" }] }],
    ["invalid_metadata", "INVALID_ARGUMENT", "BadRequest", { fieldViolations: [{ field: "metadata" }] }],
    ["invalid_scope", "INVALID_ARGUMENT", "BadRequest", { fieldViolations: [{ field: "scopes" }] }],
    ["queue_full", "UNAVAILABLE", "RetryInfo", {}],
    ["unavailable", "UNAVAILABLE", "RetryInfo", {}],
  ] as const)("that fails with %s carries google.rpc details", async (reason, code, type, detail) => {
    await using served = await serve({ ledger: decliningLedger(reason) });
    const failure = await failureOf(served.call("CreateHold", HOLD));
    expect(failure).toMatchObject({ code, reason: reason.toUpperCase(), details: { [type]: detail } });
  });

  test("that fails with an unknown error is INTERNAL without its message", async () => {
    const ledger = stubLedger({ topUp: () => Promise.reject(new Error("SELECT secret FROM wallets")) });
    await using served = await serve({ ledger });
    const failure = await failureOf(
      served.call("CreateTopUp", { walletId: "w", topUpId: "t", amountNanos: 1 }),
    );
    expect(failure).toMatchObject({ code: "INTERNAL", reason: "INTERNAL", message: "The ledger failed." });
    expect(JSON.stringify(failure)).not.toContain("secret");
    expect(served.logged).toEqual(["ledger call failed"]);
  });

  test("whose ledger method throws synchronously is answered", async () => {
    const ledger = stubLedger({
      refund() {
        throw new LedgerError("hold_not_found");
      },
    });
    await using served = await serve({ ledger });
    const failure = await failureOf(
      served.call("CreateRefund", { walletId: "w", refundId: "r", holdId: "h", amountNanos: 1 }),
    );
    expect(failure).toMatchObject({
      code: "NOT_FOUND",
      reason: "HOLD_NOT_FOUND",
      details: { ResourceInfo: { resourceName: "wallets/w/holds/h" } },
    });
  });

  test("without an amount is INVALID_ARGUMENT and does not reach the ledger", async () => {
    let settled = 0;
    const ledger = stubLedger({
      settle() {
        settled += 1;
        return Promise.reject(new LedgerError("unavailable"));
      },
    });
    await using served = await serve({ ledger });
    const failure = await failureOf(served.call("SettleHold", { walletId: "acme", holdId: HOLD.holdId }));
    expect(failure).toMatchObject({
      code: "INVALID_ARGUMENT",
      reason: "INVALID_AMOUNT",
      details: { BadRequest: { fieldViolations: [{ field: "amount_nanos" }] } },
    });
    expect(settled).toBe(0);
  });

  test("for an unknown hold or wallet is NOT_FOUND", async () => {
    await using served = await serve({ ledger: stubLedger({ wallet: async () => undefined }) });
    const wallet = await failureOf(served.call("GetWallet", { walletId: "acme" }));
    expect(wallet).toMatchObject({ code: "NOT_FOUND", reason: "WALLET_NOT_FOUND" });
    const hold = await failureOf(served.call("GetHold", { walletId: "acme", holdId: HOLD.holdId }));
    expect(hold).toMatchObject({ code: "NOT_FOUND", reason: "HOLD_NOT_FOUND" });
  });

  test("with undecodable bytes is INVALID_ARGUMENT", async () => {
    await using served = await serve();
    const failure = await failureOf(rawCall(served.client, Buffer.from([0xff, 0xff, 0xff])));
    expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", reason: "INVALID_REQUEST" });
  });

  test("above 32 MiB is RESOURCE_EXHAUSTED, and the connection stays usable", async () => {
    await using served = await serve();
    const large = failureOf(served.call("GetWallet", { walletId: "x".repeat(33 * 1024 * 1024) }));
    expect(await large).toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    expect(await served.call("Ping", {})).toEqual({});
  });
});

describe("a deadline", () => {
  test("that passes while the ledger works ends the call", async () => {
    const never = new Promise<never>(() => undefined);
    await using served = await serve({ ledger: stubLedger({ hold: () => never }) });
    const failure = await failureOf(served.call("CreateHold", HOLD, { deadline: Date.now() + 50 }));
    expect(failure).toMatchObject({ code: "DEADLINE_EXCEEDED" });
  });

  test("or cancellation of one call does not affect other calls", async () => {
    const held = Promise.withResolvers<void>();
    const ledger = stubLedger({
      async topUp() {
        await held.promise;
        return { balances: { posted: 1n, held: 0n, available: 1n }, replayed: false };
      },
    });
    await using served = await serve({ ledger });
    const request = { walletId: "w", topUpId: "t", amountNanos: 1 };
    const cancelled = Promise.withResolvers<string>();
    const call = served.client.CreateTopUp(request, tokenOf(TOKEN), (error) =>
      cancelled.resolve(String(error?.code)),
    );
    const other = served.call("CreateTopUp", request);
    call.cancel();
    expect(await cancelled.promise).toBe("1");
    held.resolve();
    expect((await other).balances.postedNanos.toNumber()).toBe(1);
    expect(served.logged).toEqual([]);
  });
});

describe("BatchMutate", () => {
  test("applies each mutation independently", async () => {
    const ledger = stubLedger({ settle: () => Promise.reject(new LedgerError("hold_not_found")) });
    await using served = await serve({ ledger });
    const { results } = await served.call("BatchMutate", {
      mutations: [
        { createHold: HOLD },
        { settleHold: { walletId: "acme", holdId: HOLD.holdId, amountNanos: 3 } },
        { settleHold: { walletId: "acme", holdId: HOLD.holdId } },
        {},
        { createCharge: { walletId: "acme", chargeId: "c", keyId: "k", amountNanos: 4 } },
        { extendHold: { walletId: "acme", holdId: HOLD.holdId, ttl: { seconds: 1 } } },
      ],
    });
    expect(results.map((each: { status: { code: number } | null }) => each.status?.code ?? 0)).toEqual([
      0, 5, 3, 3, 0, 0,
    ]);
    expect(results[0].grantedNanos.toNumber()).toBe(7);
    expect(results[4].receiptId).toBe("receipt");
  });

  test("accepts at most 1,000 mutations", async () => {
    await using served = await serve();
    const mutations = Array.from({ length: 1_000 }, () => ({ createWallet: { walletId: "w" } }));
    expect((await served.call("BatchMutate", { mutations })).results).toHaveLength(1_000);
    const failure = await failureOf(served.call("BatchMutate", { mutations: [...mutations, mutations[0]] }));
    expect(failure).toMatchObject({
      code: "INVALID_ARGUMENT",
      details: { BadRequest: { fieldViolations: [{ field: "mutations" }] } },
    });
  });
});

describe("the port", () => {
  test("answers 300 calls at once", async () => {
    await using served = await serve();
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, index) => served.call("GetWallet", { walletId: `w${index}` })),
    );
    expect(answers.map(({ wallet }) => wallet.walletId)).toEqual(answers.map((_, index) => `w${index}`));
  });

  test("survives bytes that are not HTTP/2", async () => {
    await using served = await serve();
    const [host, port] = served.server.address.split(":");
    const closed = Promise.withResolvers<void>();
    const socket = connectTcp(Number(port), host, () =>
      socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n\0\0garbage"),
    );
    socket.on("error", () => undefined);
    socket.on("close", () => closed.resolve());
    socket.resume();
    await closed.promise;
    expect(await served.call("Ping", {})).toEqual({});
  });

  test("in use throws LedgerListenError", async () => {
    await using served = await serve();
    const port = Number(served.server.address.split(":")[1]);
    const second = serveLedger({
      ledger: stubLedger(),
      listen: { host: "127.0.0.1", port },
      tokens: () => [TOKEN],
      log: { warn: () => undefined, error: () => undefined },
    });
    expect(await second.catch((error) => error)).toBeInstanceOf(LedgerListenError);
  });

  test("of an IPv6 address is printed in brackets", async () => {
    await using served = await serve({ listen: { host: "::1", port: 0 } });
    expect(served.server.address).toMatch(/^\[::1\]:\d+$/);
    expect(await served.call("Ping", {})).toEqual({});
  });
});

describe("stop", () => {
  test("finishes running calls and accepts no new ones", async () => {
    const asked = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const ledger = stubLedger({
      async createWallet() {
        asked.resolve();
        await go.promise;
        return { posted: 1n, held: 0n, available: 1n };
      },
    });
    await using served = await serve({ ledger });
    const running = served.call("CreateWallet", { walletId: "w" });
    await asked.promise;
    const stopped = served.server.stop();
    const late = createCaller(served.server.address, credentials.createInsecure());
    expect(await failureOf(late.call("Ping", {}))).toMatchObject({ code: "UNAVAILABLE" });
    late.client.close();
    go.resolve();
    expect((await running).balances.postedNanos.toNumber()).toBe(1);
    await stopped;
    await served.server.stop();
  });
});

test("stop cancels a call that does not end within stopMaxMs", async () => {
  const asked = Promise.withResolvers<void>();
  const ledger = stubLedger({
    createWallet() {
      asked.resolve();
      return new Promise(() => undefined);
    },
  });
  await using served = await serve({ ledger, stopMaxMs: 50 });
  const running = failureOf(served.call("CreateWallet", { walletId: "w" }));
  await asked.promise;
  await served.server.stop();
  expect((await running).reason).toBeUndefined();
});

test.each([
  ["ListHolds", { filter: { walletId: "w" }, pageSize: 0 }, "page_size"],
  ["ListHolds", { filter: { walletId: "w" }, pageToken: "no token" }, "page_token"],
  ["ListHolds", { filter: { walletId: "w", startTime: { seconds: 2 }, endTime: { seconds: 1 } } }, "filter"],
  ["ListHolds", {}, "filter"],
  ["ListWallets", { pageSize: 1_001 }, "page_size"],
  ["QueryUsage", { filter: { walletId: "w" }, groupBy: [1, 1] }, "group_by"],
  ["QueryUsage", { filter: { walletId: "w" }, groupBy: [77] }, "group_by"],
] as const)("%s of %j is rejected with the name of its bad field", async (method, request, field) => {
  const decline = () => Promise.reject(new LedgerError("invalid_query"));
  const ledger = stubLedger({ receipts: decline, wallets: decline, usage: decline });
  await using served = await serve({ ledger });
  const failure = await failureOf(served.call(method, request));
  expect(failure).toMatchObject({
    code: "INVALID_ARGUMENT",
    reason: "INVALID_QUERY",
    details: { BadRequest: { fieldViolations: [{ field }] } },
  });
});

/** Calls GetWallet with raw bytes as the message. */
function rawCall(client: ReturnType<typeof createCaller>["client"], bytes: Buffer): Promise<unknown> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      "/tollgate.ledger.v1.LedgerService/GetWallet",
      (message: Buffer) => message,
      (answer: Buffer) => answer,
      bytes,
      tokenOf(TOKEN),
      (error, answer) => (error ? reject(error) : resolve(answer)),
    );
  });
}
