import { beforeAll, describe, expect, test } from "bun:test";
import { CLIENTS, UPSTREAM_KINDS } from "./cases/fuzz-case.ts";
import { type CodecsResult, runCodecs, runHugeBodies } from "./codecs/run-codecs.ts";
import { type FuzzResult, runFuzz } from "./run-fuzz.ts";

// The long run, with another seed each time, is `bun run fuzz`.
const SEED = "tollgate";

describe("mutated requests and answers of every format, through a gateway", () => {
  let result: FuzzResult;
  beforeAll(async () => {
    result = await runFuzz({ seed: SEED, first: 0, count: 800 });
  });

  test("end in a way that the contract allows, and leave the books right", () => {
    expect(result.wrongs).toEqual([]);
  });

  test.each(CLIENTS)("go deep: some of %s are answered well by each upstream that can", (client) => {
    const kinds = UPSTREAM_KINDS.filter((kind) => client !== "embeddings" || kind !== "anthropic");
    for (const kind of kinds) expect(result.counts.of(`${client} to ${kind}: finished`)).toBeGreaterThan(0);
  });
});

test("bodies of thousands of levels or elements are read, printed or refused", () => {
  expect(runHugeBodies({ levels: 30_000, elements: 1_500 }).wrongs).toEqual([]);
});

describe("the same without a gateway", () => {
  let result: CodecsResult;
  beforeAll(async () => {
    result = await runCodecs({ seed: SEED, first: 10_000, count: 1_500 });
  });

  test("throw nothing but refusals and faults, and print nothing that nobody reads", () => {
    expect(result.wrongs).toEqual([]);
  });

  test("are printed often enough to say something", () => {
    expect(result.printed).toBeGreaterThan(1_000);
    expect(result.passed).toBeGreaterThan(300);
  });
});
