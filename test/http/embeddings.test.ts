import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { parsePrice } from "../../src/domain/money.ts";
import { type Cause, ERRORS } from "../../src/errors.ts";
import { createCanaries } from "../support/canaries.ts";
import { CHAT, MESSAGES, objectOf, post, windowOf } from "../support/client.ts";
import { expectError, expectRequestIds } from "../support/expect-error.ts";
import { answer, resetAtOnce } from "../support/script.ts";
import { answerEmbeddings, VECTOR } from "../support/scripted-answers.ts";
import { scriptedModel, scriptedRoute, TEST_PRICE } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** An embeddings-only model with a window of 1,000 tokens per prompt. */
const EMBEDS = { contextWindow: 1_000, outputTokensMax: 0, outputTokensDefault: 0 };
const DEAR = { ...TEST_PRICE, input: parsePrice("3.00") };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    models: [
      scriptedModel("vectors", "openai", EMBEDS),
      scriptedModel("both", "openai"),
      scriptedModel("claude", "anthropic"),
      scriptedModel("two-ways", "openai", {
        ...EMBEDS,
        routes: [
          scriptedRoute("scripted-anthropic", "never"),
          scriptedRoute("scripted-openai", "first"),
          scriptedRoute("scripted-openai", "second", { priority: 2, price: DEAR }),
        ],
      }),
    ],
  });
});
beforeEach(() => {
  gateway.upstream.reset();
  for (const model of ["vectors", "both", "first", "second"]) gateway.upstream.on(model, answerEmbeddings());
});
afterAll(() => gateway.stop());

interface Options extends Readonly<Record<string, unknown>> {
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly raw?: BodyInit;
}

function embed({ secret = gateway.secret, headers, raw, ...members }: Options = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/embeddings`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, ...headers },
    body: raw ?? JSON.stringify({ model: "vectors", input: "Embed this.", ...members }),
  });
}

const lastBody = () => gateway.upstream.seen.at(-1)?.bodyText ?? "";

describe("an embeddings request", () => {
  test("reaches the upstream and returns byte for byte, apart from the model name", async () => {
    const body = (model: string) =>
      `{ "input":["caf\\u00e9 \\/"],"dimensions":3 ,"unknown":[1.0,null], "model" : "${model}" }`;
    const reply = (model: string) => `{ "data":[{"embedding":[0.10]}],"x":1.0,"model" : "${model}" }\n`;
    gateway.upstream.on("first", answer({ body: reply("first-2026") }));
    const response = await embed({ raw: body("two-ways") });
    expect(await response.text()).toBe(reply("two-ways"));
    expect(lastBody()).toBe(body("first"));
    expect(gateway.upstream.seen.map(({ target }) => target)).toEqual(["/v1/embeddings"]);
  });

  test("is answered whole, also when it asks for a stream", async () => {
    const response = await embed({ stream: true });
    expect(response.headers.get("content-type")).toStartWith("application/json");
    expect(lastBody()).not.toContain("stream");
    expectRequestIds(response);
  });

  test("is charged to the nano-USD, and has no output limit header", async () => {
    const before = await gateway.balances();
    const response = await embed();
    expect(response.headers.get("x-tollgate-cost-usd")).toBe("0.000011");
    expect(response.headers.has("x-tollgate-max-tokens")).toBe(false);
    const receipt = await gateway.receiptOf(response);
    // 41 bytes count as 21 tokens, held at the highest input price.
    expect(receipt).toMatchObject({ state: "settled", captured: 11_000n, granted: 21n * 2_000n });
    expect(receipt.request).toEqual({ surface: "embeddings", model: "vectors" });
    expect(receipt.outcome).toMatchObject({
      outcome: "ok",
      source: "reported",
      usage: { inputTokens: 11, outputTokens: 0 },
    });
    expect(await gateway.balances()).toMatchObject({ held: 0n, posted: before.posted - 11_000n });
  });

  test.each<[string, object | undefined, unknown, bigint | "some"]>([
    ["no usage for texts", undefined, ["Embed this.", "And that."], "some"],
    ["no usage for token ids", undefined, [1, 22, 333, 4_444], 4_000n],
    ["no usage for lists of token ids", undefined, [[100_000, 2], [3]], 3_000n],
    ["an impossible usage", { prompt_tokens: -1 }, [7, 8], 2_000n],
  ])("is counted locally when the upstream reports %s", async (_, usage, input, charge) => {
    // A default parameter would replace `undefined`.
    gateway.upstream.on("vectors", answerEmbeddings(usage ?? {}));
    const receipt = await gateway.receiptOf(await embed({ input }));
    expect(receipt.outcome?.source).toBe("estimated");
    if (charge === "some") expect(Number(receipt.captured)).toBeWithin(1_000, 30_000);
    else expect(receipt.captured).toBe(charge);
  });

  test("is charged at most the window of each prompt", async () => {
    gateway.upstream.on("vectors", answerEmbeddings({ prompt_tokens: 3_001 }));
    const receipt = await gateway.receiptOf(await embed({ input: [[1], [2], [3]] }));
    expect(receipt).toMatchObject({ captured: 3_000_000n, outcome: { source: "estimated" } });
  });

  test("may exceed one context window in total", async () => {
    gateway.upstream.on("vectors", answerEmbeddings({ prompt_tokens: 3_000, total_tokens: 3_000 }));
    const input = Array.from({ length: 3 }, () => "word ".repeat(900));
    const response = await embed({ input });
    const receipt = await gateway.receiptOf(response);
    expect(receipt).toMatchObject({ captured: 3_000_000n, granted: 3_000n * 2_000n });
  });

  test("takes its tokens per minute and returns what it did not use", async () => {
    const { secret } = await gateway.newKey({ limits: { tokensPerMinute: 100, requestsPerMinute: 9 } });
    const first = await embed({ secret });
    expect(windowOf(first, CHAT, "requests")).toMatchObject({ limit: 9, remaining: 8 });
    expect(windowOf(first, CHAT, "tokens")).toMatchObject({ limit: 100, remaining: 100 - 21 });
    await first.text();
    expect(windowOf(await embed({ secret }), CHAT, "tokens")).toMatchObject({ remaining: 100 - 11 - 21 });
    await expectError(await embed({ secret, input: "x".repeat(300) }), CHAT, "too_many_tokens");
  });

  test("is declined without money before an upstream is called", async () => {
    const { secret } = await gateway.newPayer("0.000041999");
    await expectError(await embed({ secret }), CHAT, "wallet_empty");
    expect(gateway.upstream.seen).toBeEmpty();
    const rich = await gateway.newPayer("0.000042");
    expect((await embed({ secret: rich.secret })).status).toBe(200);
  });

  test("fails over to the next route that can embed, at the price of that route", async () => {
    gateway.upstream.on("first", answer({ status: 503, body: "" }));
    const response = await embed({ model: "two-ways" });
    expect(await objectOf(response)).toMatchObject({ model: "two-ways", data: [{ embedding: VECTOR }] });
    expect(gateway.upstream.seen.map(({ model }) => model)).toEqual(["first", "second"]);
    expect((await gateway.receiptOf(response)).captured).toBe(33_000n);
  });
});

describe("a model", () => {
  test("without an upstream that embeds answers 501", async () => {
    await expectError(await embed({ model: "claude" }), CHAT, "not_built");
    expect(gateway.upstream.seen).toBeEmpty();
  });

  test.each([CHAT, MESSAGES])("that only embeds answers 501 on $path before a hold", async (surface) => {
    const { secret } = await gateway.newPayer("0", { limits: { requestsPerMinute: 0 } });
    for (const more of [{}, { max_tokens: 5 }, { stream: true }]) {
      const refused = await post(gateway, surface, { secret, model: "vectors", ...more });
      await expectError(refused, surface, "not_built");
    }
    expect(gateway.upstream.seen).toBeEmpty();
  });

  test("that also writes is sent no output limit", async () => {
    const response = await embed({ model: "both" });
    // 38 bytes count as 19 tokens, held at the highest input price.
    expect((await gateway.receiptOf(response)).granted).toBe(19n * 2_000n);
    expect(JSON.parse(lastBody())).toEqual({ model: "both", input: "Embed this." });
  });

  test("that only embeds is listed with its window and an output limit of 0", async () => {
    const headers = { "x-api-key": gateway.secret };
    const model = await objectOf(await fetch(`${gateway.url}/v1/models/vectors`, { headers }));
    expect(model).toMatchObject({ context_window: 1_000, max_tokens: 0, default_max_output_tokens: 0 });
  });
});

const shape = (path: string) => `${ERRORS.wrong_shape.message.replace(/\.$/, "")}: ${path}`;

type Wrong = [what: string, arrange: () => Options | Promise<Options>, cause: Cause, message?: string];

describe("an embeddings request of a client", () => {
  test.each<Wrong>([
    ["no JSON", () => ({ raw: '{"model":' }), "not_json"],
    ["no UTF-8", () => ({ raw: Buffer.from('{"model":"\xff\xfe"}', "latin1") }), "not_json"],
    ["a list", () => ({ raw: "[]" }), "wrong_shape"],
    ["no input", () => ({ input: undefined }), "wrong_shape", shape("input")],
    ["an empty text", () => ({ input: ["a", ""] }), "wrong_shape", shape("input[1]")],
    ["a fraction of a token", () => ({ input: [[1], [0.5]] }), "wrong_shape", shape("input[1][0]")],
    ["another encoding", () => ({ encoding_format: "int8" }), "wrong_shape", shape("encoding_format")],
    ["no dimension", () => ({ dimensions: 0 }), "wrong_shape", shape("dimensions")],
    ["too many prompts", () => ({ input: Array(2_049).fill("a") }), "wrong_shape", shape("input")],
    ["lists in lists", () => ({ raw: `{"model":"vectors","input":${"[".repeat(1e6)}` }), "wrong_shape"],
    ["no known key", () => ({ secret: "sk-tg-unknown" }), "unknown_key"],
    ["an unknown model", () => ({ model: "nobody" }), "unknown_model"],
    [
      "a model that its key may not use",
      async () => ({ secret: (await gateway.newKey({ models: ["other"] })).secret }),
      "model_not_allowed",
    ],
  ])("with %s is rejected", async (...[, arrange, cause, message]: Wrong) => {
    const response = await embed(await arrange());
    await expectError(response, CHAT, cause, message === undefined ? {} : { message });
    expect(gateway.upstream.seen).toBeEmpty();
  });

  test("gets errors in the envelope of the route, also with an anthropic-version header", async () => {
    const headers = { "anthropic-version": "2023-06-01" };
    await expectError(await embed({ headers, input: [] }), CHAT, "wrong_shape", {
      message: shape("input"),
    });
  });
});

describe("an embeddings upstream", () => {
  const secrets = createCanaries();

  test.each<[string, Parameters<typeof answer>[0] | undefined, Cause]>([
    ["a reset", undefined, "upstream_unavailable"],
    ["HTML", { body: `<h1>${secrets.next("html")}</h1>` }, "upstream_unavailable"],
    ["an error", { body: JSON.stringify({ error: secrets.next("error") }) }, "upstream_unavailable"],
    ["a chat answer", { body: '{"choices":[{"message":{"content":"hi"}}]}' }, "upstream_unavailable"],
    ["an entry without a vector", { body: '{"data":[{"index":0}]}' }, "upstream_unavailable"],
    ["a rejection of the gateway's key", secrets.refusal(401), "upstream_unavailable"],
    ["a rejection of the request", secrets.refusal(400), "rejected_by_upstream"],
    ["no vectors", { body: '{"data":[]}' }, "empty_released"],
    ["no vectors, but usage", { body: '{"data":[],"usage":{"prompt_tokens":3}}' }, "empty_charged"],
  ])("that sends %s causes the right error and charge", async (_, reply, cause) => {
    gateway.upstream.on("vectors", reply ? answer(reply) : resetAtOnce);
    const response = await embed();
    const text = JSON.stringify([...response.headers]) + (await response.clone().text());
    await expectError(response, CHAT, cause);
    secrets.expectNone(text);
    const { captured } = await gateway.receiptOf(response);
    expect(captured).toBe(cause === "empty_charged" ? 3_000n : 0n);
  });

  test("may send more than 32 MiB only for as many prompts as fill it", async () => {
    const entry = { embedding: "A".repeat(60_000) };
    const data = Array.from({ length: 600 }, () => entry);
    gateway.upstream.on("vectors", answer({ body: JSON.stringify({ data, usage: { prompt_tokens: 600 } }) }));
    await expectError(await embed(), CHAT, "answer_too_large");
    const response = await embed({ input: Array.from({ length: 600 }, () => "a") });
    expect(response.status).toBe(200);
    expect((await response.text()).length).toBeGreaterThan(600 * 60_000);
    expect((await gateway.receiptOf(response)).captured).toBe(600_000n);
  });

  test("that reports a prompt as too long is quoted only with its numbers", async () => {
    const message = "This model's maximum context length is 8192 tokens, however you requested 9000 tokens.";
    gateway.upstream.on("vectors", answer({ status: 400, body: JSON.stringify({ error: { message } }) }));
    await expectError(await embed(), CHAT, "prompt_too_long", {
      message: "prompt is too long: 9000 tokens > 1000 maximum",
    });
  });
});
