import { describe, expect, test } from "bun:test";
import { createAuthenticate } from "../../src/accounts/keys/authenticate.ts";
import { openStorage, type Storage } from "../../src/app/storage.ts";
import type { DatabaseLocation } from "../../src/db/location.ts";
import { parseUsd, printUsd } from "../../src/domain/money.ts";
import { auditDatabase } from "../../src/ledger/audit/audit.ts";
import { FACTS, holdOf } from "../ledger/samples.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { readFixtures, type UpgradeFixture } from "./fixtures.ts";
import { buildOld } from "./old-database.ts";

const NO_TLS = { cert: undefined, key: undefined, ca: undefined };
/** The settings of storage without a served or remote ledger. */
const LEDGER = { listen: undefined, remote: undefined, tokens: [], tls: NO_TLS };

async function withUpgraded(
  fixture: UpgradeFixture,
  use: (storage: Storage) => Promise<void>,
): Promise<void> {
  const { location, drop } = await buildOld(fixture);
  const storage = await openAt(location);
  try {
    await use(storage);
  } finally {
    await storage.close();
    await drop();
  }
}

function openAt(database: DatabaseLocation): Promise<Storage> {
  return openStorage({ database, dataFolder: tempFolder(), ledger: LEDGER });
}

describe.each(["sqlite", "postgres"] as const)("a database of %s", (dialect) => {
  const fixtures = readFixtures(dialect);

  test("has data of every schema that programs were published with", () => {
    const known = { sqlite: [2, 4, 5, 6, 7, 8, 9, 10, 13, 15], postgres: [2, 3, 4, 5, 6, 7, 8, 11, 13] };
    expect(fixtures.map(({ migrations }) => migrations)).toEqual(known[dialect]);
  });

  test.each(fixtures.map((fixture) => [fixture.migrations, fixture] as const))(
    "of schema %d keeps money, keys and receipts through the upgrade, and takes new holds",
    (_migrations, fixture) => withUpgraded(fixture, (storage) => expectUpgraded(storage, fixture)),
  );
});

async function expectUpgraded({ database, ledger }: Storage, { facts }: UpgradeFixture): Promise<void> {
  const expectSound = async () => {
    const { findings, wallets, holds, transfers } = await auditDatabase(database, facts.wroteAtMs);
    expect(findings).toEqual([]);
    return { wallets, holds, transfers };
  };
  expect(await expectSound()).toEqual(facts.counts);
  for (const { id, posted_usd, held_usd } of facts.accounts) {
    const { posted, held } = await ledger.balances(id);
    expect([printUsd(posted), printUsd(held)]).toEqual([posted_usd, held_usd]);
  }
  const authenticate = createAuthenticate({ database });
  expect(await authenticate(facts.key)).toMatchObject({
    key: { accountId: facts.accountId, name: "laptop" },
  });
  await expect(authenticate(facts.revokedKey)).rejects.toThrow();
  await expectReceipts({ database, ledger }, facts);
  const holdId = Bun.randomUUIDv7();
  await ledger.hold(holdOf(parseUsd("1"), { walletId: facts.accountId, holdId }));
  await ledger.release({ walletId: facts.accountId, holdId, facts: FACTS });
  await expectSound();
}

async function expectReceipts(
  { ledger }: Pick<Storage, "ledger" | "database">,
  facts: UpgradeFixture["facts"],
) {
  const receipts = await Promise.all(
    facts.requestIds.map((holdId) => ledger.receipt(facts.accountId, holdId)),
  );
  expect(receipts.map((receipt) => receipt?.state)).toEqual(["settled", "settled", "settled", "held"]);
  expect(receipts[0]?.refunded).toBe(receipts[0]?.captured);
}
