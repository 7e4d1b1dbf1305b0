import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import OpenAI from "openai";
import { findBedrockProblem } from "../support/embeddings-rules.ts";
import {
  API_KEY,
  PROJECT,
  type ScriptedGoogle,
  SUBJECT_TOKEN,
  startScriptedGoogle,
} from "../support/scripted-google.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const VECTOR = [0.5, -0.25, 0.125];
const TITAN = "amazon.titan-embed-text-v2:0";
const COHERE = "eu.cohere.embed-v4:0";

/** Bedrock's models of embeddings on a loopback port, as strict as their documentation. */
function startBedrock() {
  const seen: unknown[] = [];
  let tokens: string | undefined = "7";
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const [, model = ""] = /^\/model\/([^/]+)\/invoke$/.exec(new URL(request.url).pathname) ?? [];
      if (request.headers.get("authorization") !== "Bearer key") return new Response("{}", { status: 403 });
      const body = Object(await request.json());
      const problem = findBedrockProblem(decodeURIComponent(model), body);
      if (problem !== undefined) return Response.json({ message: problem }, { status: 400 });
      seen.push(body);
      if (model.includes("titan")) return Response.json({ embedding: VECTOR, inputTextTokenCount: 3 });
      const embeddings = { float: body.texts.map(() => VECTOR) };
      const headers = tokens === undefined ? {} : { "x-amzn-bedrock-input-token-count": tokens };
      return Response.json({ id: "c-1", response_type: "embeddings_by_type", embeddings }, { headers });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    report: (count: string | undefined) => (tokens = count),
    stop: () => server.stop(true),
  };
}

let google: ScriptedGoogle;
let bedrock: ReturnType<typeof startBedrock>;
let gateway: TestGateway;

beforeAll(async () => {
  google = startScriptedGoogle();
  bedrock = startBedrock();
  const subjectFile = join(tempFolder(), "subject.jwt");
  await Bun.write(subjectFile, SUBJECT_TOKEN);
  const place = { project: PROJECT, location: "global", credentials: google.credentials(subjectFile) };
  const model = (id: string, upstream: string, name = id) =>
    scriptedModel(id, "openai", {
      routes: [scriptedRoute(upstream, name)],
      contextWindow: 2_000,
      outputTokensMax: 0,
      outputTokensDefault: 0,
    });
  gateway = await startTestGateway({
    upstreams: () => [
      scriptedUpstream("gemini", "gemini", { baseUrl: `${google.url}/v1beta`, apiKey: API_KEY }),
      scriptedUpstream("vertex", "vertex", { baseUrl: google.url, apiKey: "", google: place }),
      scriptedUpstream("bedrock", "bedrock", {
        ...{
          baseUrl: bedrock.url,
          apiKey: "key",
          bedrock: { region: "eu-central-1", profile: undefined, api: undefined },
        },
      }),
    ],
    models: [
      model("gemini-embedding-001", "gemini"),
      model("text-embedding-005", "vertex"),
      model("gemini-embedding-2", "vertex"),
      model("titan", "bedrock", TITAN),
      model("cohere", "bedrock", COHERE),
    ],
  });
});
beforeEach(() => {
  google.reset();
  bedrock.seen.length = 0;
  bedrock.report("7");
});
afterAll(async () => {
  await gateway.stop();
  await google.stop();
  await bedrock.stop();
});

const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 });

async function embed(body: OpenAI.EmbeddingCreateParams & Record<string, unknown>) {
  const call = openai().embeddings.create(body);
  const { response } = await call.withResponse();
  return { reply: await call, receipt: await gateway.receiptOf(response) };
}

const many =
  (count: number, usage: object = {}) =>
  () =>
    Response.json({ embeddings: Array.from({ length: count }, () => ({ values: VECTOR })), ...usage });
const predictions =
  (...tokens: readonly unknown[]) =>
  () =>
    Response.json({
      predictions: tokens.map((token_count) => ({
        embeddings: { values: VECTOR, statistics: { token_count } },
      })),
    });

describe("the OpenAI SDK embeds texts", () => {
  test("at the Gemini API, in base64 and as numbers, with dimensions", async () => {
    google.on("gemini-embedding-001", many(2, { usageMetadata: { promptTokenCount: 9 } }));
    for (const more of [{}, { encoding_format: "float" as const }]) {
      const input = ["one", "two"];
      const { reply, receipt } = await embed({
        model: "gemini-embedding-001",
        input,
        dimensions: 3,
        ...more,
      });
      expect(reply.data.map(({ embedding }) => embedding)).toEqual([VECTOR, VECTOR]);
      expect(reply).toMatchObject({ model: "gemini-embedding-001", usage: { prompt_tokens: 9 } });
      expect(receipt).toMatchObject({ captured: 9_000n, outcome: { source: "reported" } });
    }
    expect(google.seen[0]?.body).toEqual({
      requests: ["one", "two"].map((text) => ({
        model: "models/gemini-embedding-001",
        content: { parts: [{ text }] },
        outputDimensionality: 3,
      })),
    });
  });

  test("at the Gemini API without a report, counted here", async () => {
    google.on("gemini-embedding-001", many(1));
    const { receipt } = await embed({ model: "gemini-embedding-001", input: "Hello there." });
    expect(receipt).toMatchObject({ captured: 3_000n, outcome: { source: "estimated" } });
  });

  test("at Vertex AI, several at once, with the sum of their tokens", async () => {
    google.on("text-embedding-005", predictions(4, 5));
    const input = ["one", "two"];
    const { reply, receipt } = await embed({ model: "text-embedding-005", input, task_type: "CLUSTERING" });
    expect(reply.usage.total_tokens).toBe(9);
    expect(receipt).toMatchObject({ captured: 9_000n });
    expect(google.seen[0]?.body).toEqual({
      instances: input.map((content) => ({ content, task_type: "CLUSTERING" })),
      parameters: { autoTruncate: false },
    });
  });

  test("at Vertex AI by a model that takes one content", async () => {
    google.on("gemini-embedding-2", () =>
      Response.json({ embedding: { values: VECTOR }, usageMetadata: { promptTokenCount: 2 } }),
    );
    const { receipt } = await embed({ model: "gemini-embedding-2", input: ["one"], dimensions: 768 });
    expect(receipt).toMatchObject({ captured: 2_000n });
    expect(google.seen[0]?.path).toEndWith("/gemini-embedding-2:embedContent");
  });

  test("at Bedrock by Titan, one at a time", async () => {
    const { reply, receipt } = await embed({ model: "titan", input: "one", dimensions: 256 });
    expect(reply.data[0]?.embedding).toEqual(VECTOR);
    expect(receipt).toMatchObject({ captured: 3_000n });
    expect(bedrock.seen).toEqual([{ inputText: "one", dimensions: 256 }]);
  });

  test("at Bedrock by Cohere, whose tokens are in a header", async () => {
    const { reply, receipt } = await embed({
      model: "cohere",
      input: ["one", "two"],
      input_type: "search_query",
    });
    expect(reply.data).toHaveLength(2);
    expect(receipt).toMatchObject({ captured: 7_000n, outcome: { source: "reported" } });
    expect(bedrock.seen).toMatchObject([{ texts: ["one", "two"], input_type: "search_query" }]);
  });

  test.each(["-1", "1e3", "9999999999999999", undefined])(
    "at Bedrock by Cohere, counted here where the header is %s",
    async (count) => {
      bedrock.report(count);
      const { receipt } = await embed({ model: "cohere", input: ["Hello there."] });
      expect(receipt).toMatchObject({ captured: 3_000n, outcome: { source: "estimated" } });
    },
  );
});

describe("what cannot be embedded elsewhere is refused by the field, before an upstream is called", () => {
  test.each<[name: string, model: string, input: OpenAI.EmbeddingCreateParams["input"]]>([
    ["token ids", "gemini-embedding-001", [1, 2, 3]],
    ["lists of token ids", "cohere", [[1], [2]]],
    ["101 texts at the Gemini API", "gemini-embedding-001", Array.from({ length: 101 }, () => "x")],
    ["two texts at a model of Vertex AI that takes one", "gemini-embedding-2", ["one", "two"]],
    ["two texts at Titan", "titan", ["one", "two"]],
    ["97 texts at Cohere", "cohere", Array.from({ length: 97 }, () => "x")],
  ])("%s", async (_name, model, input) => {
    const refused = await openai()
      .embeddings.create({ model, input })
      .catch((reason: unknown) => reason);
    expect(refused).toMatchObject({ status: 422, code: "invalid_request" });
    expect(String(refused)).toContain("input");
    expect([...google.seen, ...bedrock.seen]).toHaveLength(0);
  });
});

describe("a lying upstream", () => {
  test.each<[name: string, answer: () => Response]>([
    ["another number of vectors", many(3)],
    ["a vector of text", () => Response.json({ embeddings: [{ values: ["1"] }] })],
    ["an empty vector", () => Response.json({ embeddings: [{ values: [] }] })],
    ["no JSON", () => new Response("<html>")],
  ])("that sends %s is 502, and nothing is charged beyond the prompt", async (_name, answer) => {
    google.on("gemini-embedding-001", answer);
    const refused = await openai()
      .embeddings.create({ model: "gemini-embedding-001", input: "one" })
      .catch((reason: unknown) => reason);
    expect(refused).toMatchObject({ status: 502 });
    await gateway.nothingIsHeld();
  });

  test("that reports more tokens than a window holds is charged up to it", async () => {
    google.on("gemini-embedding-001", many(1, { usageMetadata: { promptTokenCount: 9_000_000 } }));
    const { receipt } = await embed({ model: "gemini-embedding-001", input: "one" });
    expect(receipt.captured).toBe(2_000_000n);
  });
});
