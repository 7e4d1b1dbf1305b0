import { describe, expect, test } from "bun:test";
import { sweepRuns } from "../../../src/accounts/attribution/ended-runs.ts";
import { createRunStore } from "../../../src/accounts/attribution/runs.ts";
import type { ApiKey } from "../../../src/accounts/keys/key.ts";
import { DAY_MS } from "../../../src/domain/id-time.ts";
import { scopeOfRun } from "../../../src/domain/scope.ts";
import { createRuns } from "../../../src/gateway/runs.ts";
import { LedgerError } from "../../../src/ledger/ledger.ts";
import { TEST_CALLER } from "../../gateway/held-request.ts";
import { DIALECTS, storageForTests } from "../temp-storage.ts";

const FACTS = { surface: "chat", model: "m" };
const OUTCOME = { outcome: "ok", source: "reported", attempts: [] } as const;

describe.each(DIALECTS)("an unused run in %s", (dialect) => {
  const storage = storageForTests(dialect);

  async function newKey(): Promise<ApiKey> {
    const { id: accountId } = await storage.newAccount();
    await storage.ledger.topUp({ walletId: accountId, topUpId: "t", amount: 1_000n });
    return { ...TEST_CALLER.key, id: "k", accountId };
  }
  const newGateway = () =>
    createRuns({ ledger: storage.ledger, store: createRunStore(storage), now: storage.now });
  const begin = async (key: ApiKey, amount: bigint, gateway = newGateway()) =>
    gateway.begin(key, "r", amount);
  function hold({ accountId: walletId, id: keyId }: ApiKey, amount: bigint) {
    const holdId = Bun.randomUUIDv7("hex", storage.clock.nowMs);
    const scopes = [scopeOfRun({ keyId, runId: "r" })];
    const request = { walletId, holdId, keyId, scopes, amount, minimum: amount, ttlMs: 60_000, facts: FACTS };
    return storage.ledger.hold(request).then(() => holdId);
  }
  const settle = ({ accountId: walletId }: ApiKey, holdId: string, amount: bigint) =>
    storage.ledger.settle({ walletId, holdId, amount, facts: OUTCOME });
  const rows = () => storage.database.db.select().from(storage.database.tables.runs);
  const limitsOf = async ({ accountId, id }: ApiKey) =>
    (await storage.ledger.spendLimits(accountId, id, [scopeOfRun({ keyId: id, runId: "r" })])).map(
      ({ limitId: _, used, amount }) => ({ used, amount }),
    );
  const pass = async (days: number) => {
    storage.clock.nowMs += days * DAY_MS;
    await sweepRuns(storage);
  };

  test("is removed with its limit 30 days after it was begun, and its id begins another run", async () => {
    const key = await newKey();
    await begin(key, 10n);
    await pass(29);
    expect(await rows()).toHaveLength(1);
    await pass(1);
    expect(await rows()).toEqual([]);
    expect(await limitsOf(key)).toEqual([]);
    await begin(key, 7n);
    expect(await limitsOf(key)).toEqual([{ used: 0n, amount: 7n }]);
  });

  test("that has spent is kept for 30 days after a look has found so", async () => {
    const key = await newKey();
    await begin(key, 10n);
    await settle(key, await hold(key, 10n), 10n);
    await pass(30);
    expect(await limitsOf(key)).toEqual([{ used: 10n, amount: 10n }]);
    await expect(hold(key, 1n)).rejects.toMatchObject({ code: "spending_limit_exceeded" });
    await pass(29);
    expect(await rows()).toHaveLength(1);
    await pass(1);
    expect(await rows()).toEqual([]);
    await begin(key, 10n);
    expect(await limitsOf(key)).toEqual([{ used: 0n, amount: 10n }]);
  });

  test("is kept while requests name its limit, in a gateway that has known it for long", async () => {
    const key = await newKey();
    const gateway = newGateway();
    for (let day = 0; day < 100; day += 10) {
      await begin(key, 10n, gateway);
      await pass(10);
    }
    expect(await rows()).toHaveLength(1);
    expect(await limitsOf(key)).toEqual([{ used: 0n, amount: 10n }]);
  });

  test("is kept while a hold is open", async () => {
    const key = await newKey();
    await begin(key, 10n);
    const holdId = await hold(key, 4n);
    await pass(30);
    expect(await rows()).toHaveLength(1);
    await settle(key, holdId, 3n);
    expect(await limitsOf(key)).toEqual([{ used: 3n, amount: 10n }]);
  });

  test("that takes a hold while it is being removed is kept with its limit", async () => {
    const key = await newKey();
    await begin(key, 10n);
    storage.clock.nowMs += 30 * DAY_MS;
    const { ledger } = storage;
    await sweepRuns({
      ...storage,
      ledger: {
        ...ledger,
        deleteSpendLimit: async (request) => {
          await settle(key, await hold(key, 4n), 4n);
          return ledger.deleteSpendLimit(request);
        },
      },
    });
    expect(await rows()).toMatchObject([{ isEnding: false }]);
    expect(await limitsOf(key)).toEqual([{ used: 4n, amount: 10n }]);
  });

  test("whose removal was interrupted ends before its id begins another run", async () => {
    const key = await newKey();
    await begin(key, 10n);
    storage.clock.nowMs += 30 * DAY_MS;
    const deleteSpendLimit = () => Promise.reject(new LedgerError("unavailable"));
    const away = { ...storage, ledger: { ...storage.ledger, deleteSpendLimit } };
    await expect(sweepRuns(away)).rejects.toMatchObject({ code: "unavailable" });
    expect(await rows()).toMatchObject([{ isEnding: true }]);
    await begin(key, 3n);
    expect(await rows()).toMatchObject([{ isEnding: false, amount: 3n }]);
    expect(await limitsOf(key)).toEqual([{ used: 0n, amount: 3n }]);
    await pass(0);
    expect(await limitsOf(key)).toEqual([{ used: 0n, amount: 3n }]);
  });

  test("is removed among many in steps", async () => {
    const key = await newKey();
    const store = createRunStore(storage);
    const { accountId, id: keyId } = key;
    for (let at = 0; at < 120; at += 1) await store({ accountId, keyId, runId: `r${at}`, amount: 1n });
    await pass(30);
    expect(await rows()).toEqual([]);
  });
});
