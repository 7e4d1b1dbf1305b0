import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import {
  createTokenCounter,
  type TokenCounter,
  type TokenCounterOptions,
} from "../../src/tokens/count-tokens.ts";

const SCRIPTED = new URL("./scripted-worker.ts", import.meta.url);
const SLOW = new URL("./slow-worker.ts", import.meta.url);
const STARTABLE = new URL("./startable-worker.ts", import.meta.url);
const BROKEN = new URL("./broken-worker.ts", import.meta.url);
const SCRIPTED_TOKENS = 7;

const open: TokenCounter[] = [];

afterEach(() => {
  for (const counter of open.splice(0)) counter.close();
});

/** A busy machine may need longer than the timeouts of production. */
const PATIENT = { answerMsMax: 60_000, countMsMax: 60_000 };

/** The real worker takes half a second to start, so tests that do not end it share one. */
const shared = createTokenCounter(PATIENT);

afterAll(() => shared.close());

function createCounter(options: TokenCounterOptions = {}): TokenCounter {
  const counter = createTokenCounter({ ...PATIENT, ...options });
  open.push(counter);
  return counter;
}

async function tokensOf(counter: TokenCounter, text: string): Promise<number> {
  return (await counter.count({ input: text, output: "" })).inputTokens;
}

/** CPU time of the thread of the event loop so far, in milliseconds (Linux only). A stall costs as much. */
function eventLoopCpuMs(): number {
  const [nanos = ""] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
  return Number(nanos) / 1e6;
}

/** Counts a text with less than a second of CPU time, of which less than 200 ms are in the event loop. */
async function countCheaply(text: string): Promise<number> {
  await tokensOf(shared, "warm");
  const [cpu, eventLoopMs] = [process.cpuUsage(), eventLoopCpuMs()];
  const tokens = await tokensOf(shared, text);
  const { user, system } = process.cpuUsage(cpu);
  expect(eventLoopCpuMs() - eventLoopMs).toBeLessThan(200);
  expect((user + system) / 1_000).toBeLessThan(1_000);
  return tokens;
}

function randomLetters(length: number): string {
  let seed = 1;
  return Array.from({ length }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return String.fromCharCode(97 + (seed % 26));
  }).join("");
}

describe("a token counter", () => {
  test("counts input and output separately by the vocabulary", async () => {
    expect(await shared.count({ input: "hello world", output: "Grüße aus Köln, 42 mal." })).toEqual({
      inputTokens: 2,
      outputTokens: countTokens("Grüße aus Köln, 42 mal."),
    });
  });

  test("counts no text as no tokens", async () => {
    expect(await shared.count({ input: "", output: "" })).toEqual({
      inputTokens: 0,
      outputTokens: 0,
    });
  });

  test.each([
    ["prose", "The quick brown fox jumps over the lazy dog, and 42 more sentences follow.\n".repeat(300)],
    ["code", 'export function f(a: number): string {\n    return a + " is a";\n}\n\n'.repeat(300)],
    [
      "JSON",
      JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, name: `name ${id}`, tags: ["x", "yz"] }))),
    ],
    ["Chinese", "今天天气很好，我们去公园散步吧。".repeat(300)],
  ])("counts %s in pieces to within 2 %% of the exact number", async (_name, text) => {
    const exact = countTokens(text);
    expect(Math.abs((await tokensOf(shared, text)) - exact)).toBeLessThan(exact / 50);
  });

  test("counts a special token in a text as text", async () =>
    expect(await tokensOf(shared, "a <|endoftext|> b <|im_start|>")).toBeGreaterThan(8));

  test.each([
    ["a lone high surrogate", "\ud800"],
    ["lone low surrogates", "a\udfff".repeat(300)],
    ["NUL", "\0\0\0"],
    ["invisible characters", "\u202e\u200b"],
  ])("counts %s as at least one token", async (_name, text) => {
    expect(await tokensOf(shared, text)).toBeGreaterThan(0);
  });
});

describe("a hostile text", () => {
  test.each([
    ["one letter", "a".repeat(200_000)],
    ["random letters", randomLetters(200_000)],
    ["spaces", " ".repeat(200_000)],
    ["line feeds", "\n".repeat(200_000)],
    ["emoji", "😀".repeat(50_000)],
    ["combining marks", "e\u0301".repeat(60_000)],
  ])(
    "of 200 KB of %s is counted within a second of CPU time without a stall of 200 ms",
    async (_name, text) => {
      expect(await countCheaply(text)).toBeWithin(100, 200_001);
    },
  );

  test("above the size cap is estimated by a quarter of its bytes without a worker", async () => {
    const counter = createCounter({ script: BROKEN });
    expect(await tokensOf(counter, "é".repeat(100_001))).toBe(50_001);
  });
});

describe("a text above the size cap", () => {
  const prose = "The quick brown fox jumps over the lazy dog, and 42 more sentences follow.\n";
  const code = '\tif (items[index] !== undefined) {\n\t\treturn { "id": 12_345, kind: `name` };\n\t}\n';

  test.each([
    ["prose", prose.repeat(7_000)],
    ["code", code.repeat(6_000)],
    ["Chinese", "今天天气很好，我们去公园散步吧。".repeat(10_000)],
    ["half prose, half Chinese", prose.repeat(3_500) + "今天天气很好，我们去公园散步吧。".repeat(8_000)],
  ])("of %s is counted by a sample to within 5 %%", async (_name, text) => {
    expect(Buffer.byteLength(text)).toBeGreaterThan(400_000);
    const exact = countTokens(text);
    const counted = await tokensOf(shared, text);
    expect(Math.abs(counted - exact)).toBeLessThan(exact / 20);
  });

  test("of 30 MB is counted within a second of CPU time without a stall of 200 ms", async () => {
    const text = prose.repeat(400_000);
    expect(await countCheaply(text)).toBeWithin(text.length / 5, text.length / 3);
  });
});

describe("concurrent counts", () => {
  test("of 200 texts are all exact", async () => {
    const texts = Array.from(
      { length: 200 },
      (_, index) => `Call number ${index} asks for ${"more ".repeat(index)}`,
    );
    const counted = await Promise.all(texts.map((text) => tokensOf(shared, text)));
    expect(counted).toEqual(texts.map((text) => countTokens(text)));
  });

  test("beyond the size of the queue are estimated, and the others counted", async () => {
    const counter = createCounter({ script: SCRIPTED, queueMax: 10 });
    const counted = await Promise.all(Array.from({ length: 50 }, () => tokensOf(counter, "x".repeat(400))));
    expect(counted.filter((tokens) => tokens === SCRIPTED_TOKENS)).toHaveLength(10);
    expect(counted.filter((tokens) => tokens === 100)).toHaveLength(40);
  });
});

describe("a failing worker", () => {
  test.each(["throw", "exit", "hang"])("costs only the text on which it failed: %p", async (trouble) => {
    const counter = createCounter({ script: SCRIPTED, countMsMax: 2_000 });
    const counted = await Promise.all(
      ["fine", trouble, "fine again", "and again"].map((each) => tokensOf(counter, each)),
    );
    expect(counted).toEqual([
      SCRIPTED_TOKENS,
      1 + Math.floor(trouble.length / 5),
      SCRIPTED_TOKENS,
      SCRIPTED_TOKENS,
    ]);
  });

  test("that fails on every text still lets every count end", async () => {
    const counter = createCounter({ script: SCRIPTED, countMsMax: 10, answerMsMax: 500 });
    const texts = Array.from({ length: 40 }, (_, index) => (index % 2 ? "hang" : "exit"));
    const startMs = performance.now();
    expect(await Promise.all(texts.map((text) => tokensOf(counter, text)))).toEqual(texts.map(() => 1));
    expect(performance.now() - startMs).toBeLessThan(20_000);
  });

  test("that cannot start leaves estimates, and every count ends", async () => {
    const counter = createCounter({ script: BROKEN });
    const counted = await Promise.all(Array.from({ length: 20 }, () => tokensOf(counter, "x".repeat(41))));
    expect(counted).toEqual(counted.map(() => 11));
  });

  test("that starts slowly is waited for: the timeout of a count begins when the worker is ready", async () => {
    const counter = createCounter({ script: SLOW, answerMsMax: 2_000 });
    const counted = await Promise.all(Array.from({ length: 5 }, () => tokensOf(counter, "x".repeat(41))));
    expect(counted).toEqual(counted.map(() => 7));
  });

  test("that exceeds the timeout of its start leaves estimates", async () => {
    const counter = createCounter({ script: SLOW, startMsMax: 50 });
    expect(await tokensOf(counter, "x".repeat(41))).toBe(11);
  });

  test("without a script leaves estimates", async () => {
    const counter = createCounter({ script: new URL("./no-such-worker.ts", import.meta.url) });
    expect(await tokensOf(counter, "x".repeat(41))).toBe(11);
  });
});

describe("the counting worker", () => {
  const ask = (counter: TokenCounter) => tokensOf(counter, "which question is this?");

  test("is kept from one text to the next", async () => {
    const counter = createCounter({ script: SCRIPTED });
    expect([await ask(counter), await ask(counter)]).toEqual([1, 2]);
    await Bun.sleep(150);
    expect(await ask(counter)).toBe(3);
  });

  test("is replaced after its death, before the next text", async () => {
    let ageMs = 0;
    // On a busy machine the new worker may be late.
    for (let waitMs = 100; ageMs < 50 && waitMs < 10_000; waitMs *= 3) {
      const counter = createCounter({ script: SCRIPTED });
      expect(await tokensOf(counter, "exit")).toBe(1);
      await Bun.sleep(waitMs);
      ageMs = await tokensOf(counter, "how long have you been here?");
    }
    expect(ageMs).toBeGreaterThanOrEqual(50);
  });

  test("is started by the first count, not before", async () => {
    const counter = createCounter({ script: SCRIPTED });
    await Bun.sleep(2_000);
    const startMs = performance.now();
    const ageMs = await tokensOf(counter, "how long have you been here?");
    expect(ageMs).toBeLessThan(performance.now() - startMs);
  });

  test("is started again later when it could not start", async () => {
    const counter = createCounter({ script: STARTABLE });
    expect(await tokensOf(counter, "x".repeat(41))).toBe(11);
    process.env.TEST_WORKER_MAY_START = "yes";
    let counted = 11;
    while (counted === 11) {
      await Bun.sleep(50);
      counted = await tokensOf(counter, "x".repeat(41));
    }
    expect(counted).toBe(SCRIPTED_TOKENS);
  });

  test("is closed with estimates for pending and later counts", async () => {
    const counter = createCounter({ script: SCRIPTED });
    const pending = [tokensOf(counter, "x".repeat(400)), tokensOf(counter, "x".repeat(800))];
    counter.close();
    expect(await Promise.all([...pending, tokensOf(counter, "x".repeat(1200))])).toEqual([100, 200, 300]);
  });
});

describe("a text for which no request waits", () => {
  const patiently = async (counter: TokenCounter, text: string) =>
    (await counter.count({ input: text, output: "", isPatient: true })).inputTokens;

  test("is counted even when an awaited text would be estimated", async () => {
    const counter = createCounter({ script: SCRIPTED, answerMsMax: 50 });
    await tokensOf(counter, "warm");
    const slow = Array.from({ length: 5 }, () => patiently(counter, "slow"));
    const awaited = Array.from({ length: 5 }, () => tokensOf(counter, "slow"));
    expect(await Promise.all(slow)).toEqual([7, 7, 7, 7, 7]);
    expect(await Promise.all(awaited)).toContain(1);
  });

  test("is counted after the awaited ones", async () => {
    const counter = createCounter({ script: SCRIPTED });
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    await Promise.all([
      patiently(counter, "first").then(note("patient")),
      patiently(counter, "second").then(note("patient")),
      tokensOf(counter, "third").then(note("awaited")),
      tokensOf(counter, "fourth").then(note("awaited")),
    ]);
    expect(order).toEqual(["awaited", "awaited", "patient", "patient"]);
  });

  test("is estimated soon once the process ends, even while the worker starts", async () => {
    const counter = createCounter({ script: SLOW, answerMsMax: 50 });
    const pending = patiently(counter, "x".repeat(41));
    counter.hurry();
    expect(await Promise.all([pending, patiently(counter, "x".repeat(41))])).toEqual([11, 11]);
  });
});
