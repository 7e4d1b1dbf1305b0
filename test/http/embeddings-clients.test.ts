import { beforeEach, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { OpenAIEmbeddings } from "@langchain/openai";
import { embedMany } from "ai";
import OpenAI from "openai";
import { DEMO_MODEL } from "../../src/demo/demo-model.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answerEmbeddings, VECTOR } from "../support/scripted-answers.ts";
import { scriptedModel } from "../support/test-catalog.ts";

const embeddingsOnly = { contextWindow: 1_000, outputTokensMax: 0, outputTokensDefault: 0 };
const gateway = gatewayForTests({ models: [DEMO_MODEL, scriptedModel("vectors", "openai", embeddingsOnly)] });
beforeEach(() => gateway.upstream.on("vectors", answerEmbeddings()));

const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 });
const lastBody = () => gateway.upstream.seen.at(-1)?.bodyText ?? "";

describe("case 69: embeddings with real clients:", () => {
  test.each<[string, OpenAI.EmbeddingCreateParams["input"], number]>([
    ["a text", "one", 1],
    ["texts", ["one", "two"], 2],
    ["token ids", [1, 2, 3], 1],
    ["lists of token ids", [[1], [2, 3]], 2],
  ])("the OpenAI SDK embeds %s, in base64 and as numbers", async (_, input, count) => {
    for (const more of [{}, { encoding_format: "float" as const }]) {
      const reply = await openai().embeddings.create({ model: "vectors", input, ...more });
      expect(reply.data.map(({ embedding }) => embedding)).toEqual(
        Array.from({ length: count }, () => VECTOR),
      );
      expect(reply).toMatchObject({ model: "vectors", usage: { prompt_tokens: 11, total_tokens: 11 } });
      const { encoding_format: encoding = "base64" } = more as { encoding_format?: string };
      expect(JSON.parse(lastBody())).toEqual({ model: "vectors", input, encoding_format: encoding });
    }
  });

  test("the AI SDK embeds many values", async () => {
    const provider = createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret });
    const model = provider.embedding("vectors");
    const { embeddings, usage } = await embedMany({ model, values: ["one", "two"], maxRetries: 0 });
    expect(embeddings).toEqual([VECTOR, VECTOR]);
    expect(usage.tokens).toBe(11);
  });

  test("LangChain embeds documents", async () => {
    const configuration = { baseURL: `${gateway.url}/v1` };
    const client = new OpenAIEmbeddings({
      model: "vectors",
      apiKey: gateway.secret,
      maxRetries: 0,
      configuration,
    });
    expect(await client.embedDocuments(["one", "two"])).toEqual([VECTOR, VECTOR]);
  });

  test("the demo model embeds equally in both encodings", async () => {
    const ask = { model: "demo", input: ["the cat sat", "the cat stood", "prices fell"], dimensions: 128 };
    const coded = await openai().embeddings.create(ask);
    const plain = await openai().embeddings.create({ ...ask, encoding_format: "float" });
    expect(coded.usage).toEqual({ prompt_tokens: 8, total_tokens: 8 });
    for (const [index, { embedding }] of plain.data.entries()) {
      expect(embedding).toHaveLength(128);
      const other = coded.data[index]?.embedding ?? [];
      for (const [place, value] of embedding.entries()) expect(other[place]).toBeCloseTo(value, 6);
    }
  });
});
