import { expect, test } from "bun:test";
import { runSeed } from "./run-seed.ts";
import type { World } from "./world.ts";

const SEED = 5;
const TABLES = ["wallets", "holds", "transfers", "journal_sums", "usage_fence", "usage_stale"];
const ROLL_UPS = ["usage_hours", "usage_days", "usage_total_hours", "usage_total_days", "usage_scope_days"];
const bounds = { gateways: 2, requests: 60 };
const TEST_MS_MAX = 300_000;

test(
  "a night whose idle stretches are skipped leaves the books of a night that was lived as a whole",
  () => expect(booksAfter(SEED, "skipped")).toEqual(booksAfter(SEED, "whole")),
  TEST_MS_MAX,
);

/** The tables in the first morning of a seed. */
function booksAfter(seed: number, kind: "skipped" | "whole"): unknown {
  let books: unknown;
  const onMorning = (world: World) => {
    books ??= readTables(world);
  };
  const { failure } = runSeed({ seed, days: 2, bounds, nights: { kind, onMorning } });
  expect(failure).toBeUndefined();
  expect(books).toBeDefined();
  return books;
}

function readTables({ watch }: World): unknown {
  return [...TABLES, ...ROLL_UPS].map((table) => watch?.client.query(`SELECT * FROM ${table}`).values());
}
