import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { DatabaseLocation } from "../../src/db/location.ts";

const REPOSITORY = resolve(import.meta.dir, "../..");
export const FIXTURES = join(REPOSITORY, "test/fixtures/upgrades");
export const MIGRATION_FOLDERS = {
  sqlite: join("src/db/sqlite/migrations"),
  postgres: join("src/db/postgres/migrations"),
} as const;

/** What the program that wrote a fixture knew of its data. */
export interface FixtureFacts {
  readonly version: string;
  readonly wroteAtMs: number;
  readonly accountId: string;
  /** The secret of a key of the account, which had 25.00 USD. */
  readonly key: string;
  readonly revokedKey: string;
  /** Its requests; the first is refunded, and the gateway was killed during the last. */
  readonly requestIds: readonly string[];
  readonly accounts: readonly {
    readonly id: string;
    readonly posted_usd: string;
    readonly held_usd: string;
  }[];
  readonly counts: { readonly wallets: number; readonly holds: number; readonly transfers: number };
}

/** The rows of a database that an older program wrote. */
export interface UpgradeFixture {
  readonly dialect: DatabaseLocation["dialect"];
  /** How many migrations that program knew. */
  readonly migrations: number;
  readonly facts: FixtureFacts;
  /** INSERT statements. */
  readonly sql: string;
}

const FACTS = "-- facts: ";

/** Prints rows so that they replace those that migrations insert themselves. */
export function printFixture(facts: FixtureFacts, statements: readonly string[]): string {
  const tables = new Set(statements.map((statement) => /^INSERT INTO (\S+)/.exec(statement)?.[1]));
  // No migration inserts transfers, and nothing deletes them.
  const seeded = [...tables].filter((table) => !table?.endsWith("transfers"));
  const clears = seeded.map((table) => `DELETE FROM ${table};`);
  return `${FACTS}${JSON.stringify(facts)}\n${[...clears, ...statements].join("\n")}\n`;
}

/** Reads the fixtures of a dialect, the oldest first. */
export function readFixtures(dialect: UpgradeFixture["dialect"]): readonly UpgradeFixture[] {
  const names = readdirSync(FIXTURES).filter((name) => name.startsWith(dialect));
  return names.sort().map((name) => {
    const [first = "", ...rows] = readFileSync(join(FIXTURES, name), "utf8").split("\n");
    const migrations = Number(/-(\d+)\.sql$/.exec(name)?.[1]);
    return { dialect, migrations, facts: JSON.parse(first.slice(FACTS.length)), sql: rows.join("\n") };
  });
}
