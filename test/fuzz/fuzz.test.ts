import { beforeAll, describe, expect, test } from "bun:test";
import { CLIENTS, UPSTREAM_KINDS } from "./cases/fuzz-case.ts";
import { type CodecsResult, runCodecs, runHugeBodies } from "./codecs/run-codecs.ts";
import { type FuzzResult, runFuzz } from "./run-fuzz.ts";

// `bun run fuzz` is the long run, with a new seed each time.
const SEED = "tollgate";

/** Upstreams without embeddings. */
const CHAT_ONLY: readonly unknown[] = ["anthropic", "gemini"];

describe("mutated requests and answers of every format, through a gateway,", () => {
  let result: FuzzResult;
  beforeAll(async () => {
    result = await runFuzz({ seed: SEED, first: 0, count: 800 });
  });

  test("end in a way that the contract allows, and leave a correct ledger", () =>
    expect(result.violations).toEqual([]));

  test.each(CLIENTS)("include successful %s requests to each upstream that supports them", (client) => {
    const kinds = UPSTREAM_KINDS.filter((kind) => client !== "embeddings" || !CHAT_ONLY.includes(kind));
    for (const kind of kinds) expect(result.counts.of(`${client} to ${kind}: finished`)).toBeGreaterThan(0);
  });
});

test("bodies with thousands of levels or elements are decoded and encoded, or rejected", () =>
  expect(runHugeBodies({ levels: 30_000, elements: 1_500 }).violations).toEqual([]));

describe("mutated requests and answers, through the codecs alone,", () => {
  let result: CodecsResult;
  beforeAll(async () => {
    result = await runCodecs({ seed: SEED, first: 10_000, count: 1_500 });
  });

  test("throw only declared errors, and are encoded to valid bodies", () =>
    expect(result.violations).toEqual([]));

  test("are encoded often enough to be meaningful", () => {
    expect(result.printed).toBeGreaterThan(1_000);
    expect(result.passed).toBeGreaterThan(300);
  });
});
