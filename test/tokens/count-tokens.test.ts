import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import {
  createTokenCounter,
  type TokenCounter,
  type TokenCounterOptions,
} from "../../src/tokens/count-tokens.ts";

const SCRIPTED = new URL("./scripted-worker.ts", import.meta.url);
const SLOW = new URL("./slow-worker.ts", import.meta.url);
const LATE = new URL("./startable-worker.ts", import.meta.url);
const BROKEN = new URL("./broken-worker.ts", import.meta.url);
const SCRIPTED_TOKENS = 7;

const open: TokenCounter[] = [];

afterEach(() => {
  for (const counter of open.splice(0)) counter.close();
});

/** The real worker takes half a second to start: tests that do not end it share one. */
const shared = createTokenCounter({ answerMsMax: 10_000 });
shared.start();

afterAll(() => shared.close());

// A busy machine may need longer to start a worker than production wants to wait.
function createCounter(options: TokenCounterOptions = {}): TokenCounter {
  const counter = createTokenCounter({ answerMsMax: 10_000, ...options });
  open.push(counter);
  return counter;
}

async function tokensOf(counter: TokenCounter, text: string): Promise<number> {
  return (await counter.count({ input: text, output: "" })).inputTokens;
}

/** The longest time the event loop stood still while the work was done. */
async function longestStallMs(work: Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  await work;
  clearInterval(timer);
  return longest;
}

function randomLetters(length: number): string {
  let seed = 1;
  return Array.from({ length }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return String.fromCharCode(97 + (seed % 26));
  }).join("");
}

describe("count", () => {
  test("input and output are counted by the vocabulary, each on its own", async () => {
    expect(await shared.count({ input: "hello world", output: "Grüße aus Köln, 42 mal." })).toEqual({
      inputTokens: 2,
      outputTokens: countTokens("Grüße aus Köln, 42 mal."),
    });
  });

  test("no text is no token", async () => {
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
  ])("cutting into pieces changes the count of %s by less than a fiftieth", async (_name, text) => {
    const exact = countTokens(text);
    expect(Math.abs((await tokensOf(shared, text)) - exact)).toBeLessThan(exact / 50);
  });

  test("a special token in a text is text", async () => {
    expect(await tokensOf(shared, "a <|endoftext|> b <|im_start|>")).toBeGreaterThan(8);
  });

  test.each([
    ["a lone high surrogate", "\ud800"],
    ["lone low surrogates", "a\udfff".repeat(300)],
    ["NUL", "\0\0\0"],
    ["what nobody sees", "\u202e\u200b"],
  ])("%s is counted", async (_name, text) => {
    expect(await tokensOf(shared, text)).toBeGreaterThan(0);
  });
});

describe("hostile text", () => {
  test.each([
    ["one letter", "a".repeat(200_000)],
    ["letters without end", randomLetters(200_000)],
    ["spaces", " ".repeat(200_000)],
    ["line feeds", "\n".repeat(200_000)],
    ["emoji", "😀".repeat(50_000)],
    ["combining marks", "e\u0301".repeat(60_000)],
  ])("%s for 200 KB are counted within a second and stall nothing", async (_name, text) => {
    await tokensOf(shared, "warm");
    const startMs = performance.now();
    const work = tokensOf(shared, text);
    expect(await longestStallMs(work)).toBeLessThan(200);
    expect(performance.now() - startMs).toBeLessThan(1000);
    expect(await work).toBeWithin(100, 200_001);
  });

  test("a text above the size cap is a quarter of its bytes where no worker can be had", async () => {
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
  ])("of %s is counted by a sample, to a twentieth", async (_name, text) => {
    expect(Buffer.byteLength(text)).toBeGreaterThan(400_000);
    const exact = countTokens(text);
    const counted = await tokensOf(shared, text);
    expect(Math.abs(counted - exact)).toBeLessThan(exact / 20);
  });

  test("of 30 MB is counted in a second, and stalls nothing", async () => {
    await tokensOf(shared, "warm");
    const text = prose.repeat(400_000);
    const startMs = performance.now();
    const work = tokensOf(shared, text);
    expect(await longestStallMs(work)).toBeLessThan(200);
    expect(performance.now() - startMs).toBeLessThan(1_000);
    expect(await work).toBeWithin(text.length / 5, text.length / 3);
  });
});

describe("many at once", () => {
  test("200 counts are all right", async () => {
    const texts = Array.from(
      { length: 200 },
      (_, index) => `Call number ${index} asks for ${"more ".repeat(index)}`,
    );
    const counted = await Promise.all(texts.map((text) => tokensOf(shared, text)));
    expect(counted).toEqual(texts.map((text) => countTokens(text)));
  });

  test("what the queue has no room for is estimated at once, and the rest is counted", async () => {
    const counter = createCounter({ script: SCRIPTED, queueMax: 10 });
    const counted = await Promise.all(Array.from({ length: 50 }, () => tokensOf(counter, "x".repeat(400))));
    expect(counted.filter((tokens) => tokens === SCRIPTED_TOKENS)).toHaveLength(10);
    expect(counted.filter((tokens) => tokens === 100)).toHaveLength(40);
  });
});

describe("a worker that fails", () => {
  test.each(["throw", "exit", "hang"])("on %p costs only the text it failed on", async (trouble) => {
    const counter = createCounter({ script: SCRIPTED, countMsMax: 50 });
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

  test("again and again still lets every count end", async () => {
    const counter = createCounter({ script: SCRIPTED, countMsMax: 10, answerMsMax: 500 });
    const texts = Array.from({ length: 40 }, (_, index) => (index % 2 ? "hang" : "exit"));
    const startMs = performance.now();
    expect(await Promise.all(texts.map((text) => tokensOf(counter, text)))).toEqual(texts.map(() => 1));
    expect(performance.now() - startMs).toBeLessThan(3000);
  });

  test("to start leaves estimates, and every count ends", async () => {
    const counter = createCounter({ script: BROKEN });
    const counted = await Promise.all(Array.from({ length: 20 }, () => tokensOf(counter, "x".repeat(41))));
    expect(counted).toEqual(counted.map(() => 11));
  });

  test("to be ready at once is waited for: an answer's time runs from when it is", async () => {
    const counter = createCounter({ script: SLOW, answerMsMax: 200 });
    const counted = await Promise.all(Array.from({ length: 5 }, () => tokensOf(counter, "x".repeat(41))));
    expect(counted).toEqual(counted.map(() => 7));
  });

  test("to be ready within its own time is given up, and estimates stay", async () => {
    const counter = createCounter({ script: SLOW, startMsMax: 50 });
    expect(await tokensOf(counter, "x".repeat(41))).toBe(11);
  });

  test("that is not there leaves estimates", async () => {
    const counter = createCounter({ script: new URL("./no-such-worker.ts", import.meta.url) });
    expect(await tokensOf(counter, "x".repeat(41))).toBe(11);
  });
});

describe("the worker's life", () => {
  const ask = (counter: TokenCounter) => tokensOf(counter, "which question is this?");

  test("it is kept from one text to the next", async () => {
    const counter = createCounter({ script: SCRIPTED });
    expect([await ask(counter), await ask(counter)]).toEqual([1, 2]);
    await Bun.sleep(150);
    expect(await ask(counter)).toBe(3);
  });

  test("one that dies is replaced before the next text comes", async () => {
    let ageMs = 0;
    // On a busy machine the new one may be late.
    for (let waitMs = 100; ageMs < 50 && waitMs < 10_000; waitMs *= 3) {
      const counter = createCounter({ script: SCRIPTED });
      expect(await tokensOf(counter, "exit")).toBe(1);
      await Bun.sleep(waitMs);
      ageMs = await tokensOf(counter, "how long have you been here?");
    }
    expect(ageMs).toBeGreaterThanOrEqual(50);
  });

  test("one that could not start is tried again later", async () => {
    const counter = createCounter({ script: LATE });
    expect(await tokensOf(counter, "x".repeat(41))).toBe(11);
    process.env.TEST_WORKER_MAY_START = "yes";
    let counted = 11;
    while (counted === 11) {
      await Bun.sleep(50);
      counted = await tokensOf(counter, "x".repeat(41));
    }
    expect(counted).toBe(SCRIPTED_TOKENS);
  });

  test("after close, counts under way and later ones are estimates", async () => {
    const counter = createCounter({ script: SCRIPTED });
    const underWay = [tokensOf(counter, "x".repeat(400)), tokensOf(counter, "x".repeat(800))];
    counter.close();
    expect(await Promise.all([...underWay, tokensOf(counter, "x".repeat(1200))])).toEqual([100, 200, 300]);
  });
});

describe("a text that nobody waits for", () => {
  const patiently = async (counter: TokenCounter, text: string) =>
    (await counter.count({ input: text, output: "", isPatient: true })).inputTokens;

  test("is counted when an awaited one would long have been estimated", async () => {
    const counter = createCounter({ script: SCRIPTED, answerMsMax: 50 });
    await tokensOf(counter, "warm");
    const slow = Array.from({ length: 5 }, () => patiently(counter, "slow"));
    const awaited = Array.from({ length: 5 }, () => tokensOf(counter, "slow"));
    expect(await Promise.all(slow)).toEqual([7, 7, 7, 7, 7]);
    expect(await Promise.all(awaited)).toContain(1);
  });

  test("stands behind the awaited ones", async () => {
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

  test("is estimated soon once the process ends, also while the worker is starting", async () => {
    const counter = createCounter({ script: SLOW, answerMsMax: 50 });
    const underWay = patiently(counter, "x".repeat(41));
    counter.hurry();
    expect(await Promise.all([underWay, patiently(counter, "x".repeat(41))])).toEqual([11, 11]);
  });
});
