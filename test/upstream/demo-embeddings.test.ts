import { describe, expect, test } from "bun:test";
import { createDemoUpstream } from "../../src/demo/demo.ts";
import { callBodyOf } from "../support/call-body.ts";

function send(members: object): Promise<Response> {
  return createDemoUpstream().keys[0].send(
    {
      surface: "embeddings",
      path: "/embeddings",
      model: "m",
      body: callBodyOf(JSON.stringify({ model: "demo", ...members })),
      stream: false,
      headers: {},
      query: "",
    },
    {
      signal: new AbortController().signal,
      connecting: () => {},
      connected: () => {},
      unreachable: () => {},
      onEnded: () => {},
    },
  );
}

async function vectorsOf(input: unknown, more: object = {}): Promise<number[][]> {
  const { data } = await (await send({ input, ...more })).json();
  return data.map(({ embedding }: { embedding: number[] }) => embedding);
}

function nearness(one: readonly number[] = [], other: readonly number[] = []): number {
  return one.reduce((sum, value, place) => sum + value * (other[place] ?? 0), 0);
}

describe("a vector of the demo model", () => {
  test("has the length 1, also for a prompt without words", async () => {
    for (const vector of await vectorsOf(["one", "two words", "?!", " ", "𝄞 ☃"])) {
      expect(vector).toHaveLength(64);
      expect(nearness(vector, vector)).toBeCloseTo(1, 5);
    }
  });

  test("is equal for equal words, whatever their case and punctuation", async () => {
    const [one, other] = await vectorsOf(["Hello, World!", "hello world"]);
    expect(one).toEqual(other ?? []);
    expect(await vectorsOf("Hello, World!")).toEqual([one ?? []]);
  });

  test("is nearer to another the more words their texts share", async () => {
    const [cat, sameCat, dog, prices] = await vectorsOf([
      "the black cat sleeps on the warm sofa",
      "a black cat sleeps on a warm sofa",
      "the dog sleeps on the floor",
      "quarterly revenue fell short again",
    ]);
    expect(nearness(cat, sameCat)).toBeGreaterThan(nearness(cat, dog));
    expect(nearness(cat, dog)).toBeGreaterThan(nearness(cat, prices));
  });

  test("is made of token ids too", async () => {
    const [one, other] = await vectorsOf([[1, 2, 3], [7]]);
    expect(await vectorsOf([1, 2, 3])).toEqual([one ?? []]);
    expect(one).not.toEqual(other ?? []);
  });

  test("has the requested number of dimensions, up to 512", async () => {
    for (const dimensions of [1, 2, 512]) {
      expect((await vectorsOf("a text", { dimensions }))[0]).toHaveLength(dimensions);
    }
    for (const dimensions of [0, 513, 1.5, "many"]) {
      expect((await send({ input: "a", dimensions })).status).toBe(400);
    }
  });

  test("is encoded in 32-bit little-endian numbers when requested in base64", async () => {
    const [plain] = await vectorsOf("a text");
    const { data } = await (await send({ input: "a text", encoding_format: "base64" })).json();
    const bytes = Buffer.from(data[0].embedding, "base64");
    expect(bytes).toHaveLength(64 * 4);
    for (const [place, value] of (plain ?? []).entries()) {
      expect(bytes.readFloatLE(place * 4)).toBeCloseTo(value, 6);
    }
  });
});

test("the demo model reports the tokens of an embeddings request", async () => {
  const { usage, ...answer } = await (await send({ input: ["one two", [], "three"] })).json();
  expect(answer).toMatchObject({
    object: "list",
    model: "demo",
    data: [{ index: 0 }, { index: 1 }, { index: 2 }],
  });
  expect(usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
});
