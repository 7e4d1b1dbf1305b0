import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import type { UpstreamConfig } from "../../src/upstream/upstream.ts";
import { CHAT, dataOf, MESSAGES, objectOf, post, RESPONSES, type Surface } from "../support/client.ts";
import { rejectionOf } from "../support/counting-fetch.ts";
import { expectError } from "../support/expect-error.ts";
import { answer, gate } from "../support/script.ts";
import { EVENT_STREAM, frame } from "../support/scripted-answers.ts";
import {
  ANNOTATION,
  AZURE_TEXT,
  type AzureResource,
  answerAsAzure,
  azureAnswer,
  azureError,
  azureLines,
  refusedPrompt,
} from "../support/scripted-azure.ts";
import { framesOf } from "../support/strict-json.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const VERSION = "2024-10-21";
const CLIENTS: readonly Surface<"chat" | "messages" | "responses">[] = [CHAT, MESSAGES, RESPONSES];
const WAYS = CLIENTS.flatMap((client) =>
  [false, true].map((stream) => [client.name, stream, client] as const),
);

let gateway: TestGateway;
let dated: AzureResource;
let v1: AzureResource;

beforeAll(async () => {
  gateway = await startTestGateway({
    models: [
      modelOn("dated", "azure-dated"),
      modelOn("v1", "azure-v1"),
      modelOn("no such/deployment", "azure-dated"),
      modelOn("wrong-version", "azure-wrong-version"),
      modelOn("wrong-key", "azure-wrong-key"),
      modelOn("openai-path", "azure-openai-path"),
      modelOn("v1-bare", "azure-v1-bare"),
      scriptedModel("spare", "openai", {
        routes: [
          scriptedRoute("azure-dated", "missing", { priority: 1 }),
          scriptedRoute("azure-v1", "v1", { priority: 2 }),
        ],
      }),
    ],
    upstreams: ({ url }) => {
      const azure = (name: string, more: Partial<UpstreamConfig> = {}) =>
        scriptedUpstream(name, "azure", { baseUrl: url, apiKey: "azure-key", apiVersion: VERSION, ...more });
      return [
        azure("azure-dated"),
        azure("azure-wrong-version", { apiVersion: "2025-01-01-preview" }),
        azure("azure-wrong-key", { apiKey: "another-key" }),
        azure("azure-openai-path", { baseUrl: `${url}/openai` }),
        azure("azure-v1-bare", { apiVersion: undefined }),
        azure("azure-v1", { baseUrl: `${url}/openai/v1`, apiVersion: undefined, hasResponses: true }),
      ];
    },
  });
});
beforeEach(() => {
  gateway.upstream.reset();
  const deployments = new Set(["dated", "v1", "wrong-version", "wrong-key", "openai-path", "v1-bare"]);
  dated = { apiVersion: VERSION, keys: new Set(["azure-key"]), tokens: new Set(), deployments };
  v1 = { ...dated, apiVersion: undefined };
  for (const name of ["dated", "no such/deployment", "missing", "wrong-version", "wrong-key", "openai-path"])
    gateway.upstream.on(name, answerAsAzure(dated));
  for (const name of ["v1", "v1-bare"]) gateway.upstream.on(name, answerAsAzure(v1));
});
afterAll(() => gateway.stop());

function modelOn(id: string, upstream: string) {
  return scriptedModel(id, "openai", { routes: [scriptedRoute(upstream, id)] });
}

async function textOf(response: Response): Promise<string> {
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.stringMatching(/friend\./)]);
  return text;
}

describe("case 161: the deployments form is called with its version and key", () => {
  test.each(WAYS)(
    "by a %s client (stream: %p), which is charged the usage",
    async (_name, stream, client) => {
      const response = await post(gateway, client, { model: "dated", stream, max_tokens: 99 });
      const text = await textOf(response);
      expect(text).toContain('"dated"');
      expect(text).not.toContain("upstream-secret-name");
      expect((await gateway.receiptOf(response)).captured).toBe(25_000n);
      const [seen] = gateway.upstream.seen;
      expect(seen?.target).toBe(`/openai/deployments/dated/chat/completions?api-version=${VERSION}`);
      expect(seen?.headers).not.toHaveProperty("authorization");
      expect(seen?.includeUsage).toBe(stream);
    },
  );
});

describe("case 162: the v1 form is called without a version", () => {
  test.each(WAYS)("by a %s client (stream: %p), which is charged the usage", async (name, stream, client) => {
    const response = await post(gateway, client, { model: "v1", stream, max_tokens: 99 });
    const text = await textOf(response);
    expect(text).toContain('"v1"');
    expect(text).not.toContain("upstream-secret-name");
    expect((await gateway.receiptOf(response)).captured).toBe(25_000n);
    const path = name === "responses" ? "/responses" : "/chat/completions";
    expect(gateway.upstream.seen[0]?.target).toBe(`/openai/v1${path}`);
  });
});

test("case 163: embeddings are called in both forms", async () => {
  const targets = ["/openai/deployments/dated/embeddings?api-version=2024-10-21", "/openai/v1/embeddings"];
  for (const [at, model] of ["dated", "v1"].entries()) {
    const raw = JSON.stringify({ model, input: "Hello." });
    const response = await post(gateway, { ...CHAT, path: "/v1/embeddings" }, { raw });
    expect(await objectOf(response)).toMatchObject({ model, data: [{ index: 0 }] });
    expect(gateway.upstream.seen[at]?.target).toBe(targets[at] ?? "");
  }
});

describe("case 164: the results of content filters", () => {
  test("pass to chat clients, whole and streamed, the first chunk without choices included", async () => {
    const whole = await objectOf(await post(gateway, CHAT, { model: "dated" }));
    expect(whole).toMatchObject({ prompt_filter_results: [{}], choices: [{ content_filter_results: {} }] });
    const chunks = await dataOf(await post(gateway, CHAT, { model: "dated", stream: true }));
    expect(chunks[0]).toMatchObject({ choices: [], model: "dated", prompt_filter_results: [{}] });
    expect(chunks[1]).toMatchObject({ choices: [{ content_filter_results: {} }] });
  });

  test("are not visible to clients of other formats", async () => {
    for (const client of [MESSAGES, RESPONSES]) {
      for (const stream of [false, true]) {
        const response = await post(gateway, client, { model: "dated", stream, max_tokens: 99 });
        expect(await textOf(response)).not.toContain("filter_results");
      }
    }
  });

  test("of an asynchronous filter, whose chunks have no delta, break no stream", async () => {
    gateway.upstream.on("dated", (request) => {
      const lines = azureLines(request, { text: "Hello, friend.", usage: { input: 11, output: 7 } });
      const all = [...lines.slice(0, 3), ANNOTATION, ...lines.slice(3)].map((line) => JSON.stringify(line));
      return answer({ headers: EVENT_STREAM, body: frame("openai", all) })(request);
    });
    for (const client of CLIENTS) {
      const response = await post(gateway, client, { model: "dated", stream: true, max_tokens: 99 });
      await textOf(response);
      expect((await gateway.receiptOf(response)).captured).toBe(25_000n);
    }
  });
});

describe("case 165: a prompt that the content filter refuses", () => {
  test.each(WAYS)(
    "is a request error of a %s client (stream: %p), and costs nothing",
    async (_, stream, client) => {
      gateway.upstream.on("dated", answerAsAzure(dated, refusedPrompt));
      const response = await post(gateway, client, { model: "dated", stream, max_tokens: 99 });
      await expectError(response.clone(), client, "rejected_by_upstream");
      expect(await response.text()).not.toContain(AZURE_TEXT);
      expect((await gateway.receiptOf(response)).captured).toBe(0n);
      expect(gateway.log.text()).not.toContain(AZURE_TEXT);
    },
  );

  test("is not sent to another route", async () => {
    gateway.upstream.on("missing", refusedPrompt);
    expect((await post(gateway, CHAT, { model: "spare" })).status).toBe(400);
    expect(gateway.upstream.seen).toHaveLength(1);
  });
});

describe("case 166: an answer that the content filter ends", () => {
  const FINISHES = { chat: "content_filter", messages: "refusal", responses: "content_filter" } as const;
  test.each(WAYS)("has the filter as its end for a %s client (stream: %p)", async (name, stream, client) => {
    gateway.upstream.on(
      "dated",
      answerAsAzure(
        dated,
        azureAnswer({ text: "Hello", finish: "content_filter", usage: { input: 11, output: 7 } }),
      ),
    );
    const response = await post(gateway, client, { model: "dated", stream, max_tokens: 99 });
    expect(await response.text()).toContain(`"${FINISHES[name]}"`);
    expect((await gateway.receiptOf(response)).captured).toBe(25_000n);
  });

  test("may have no text at all", async () => {
    const choices = [{ index: 0, finish_reason: "content_filter", message: { role: "assistant" } }];
    const usage = { prompt_tokens: 11, completion_tokens: 0, total_tokens: 11 };
    gateway.upstream.on(
      "dated",
      answer({ body: JSON.stringify({ id: "a", choices, usage, model: "secret" }) }),
    );
    for (const client of CLIENTS) {
      const response = await post(gateway, client, { model: "dated", max_tokens: 99 });
      expect(response.status).toBe(200);
      expect((await gateway.receiptOf(response)).captured).toBe(11_000n);
    }
  });
});

describe("case 167: a call that Azure refuses for its configuration", () => {
  test.each(["wrong-version", "no such/deployment", "wrong-key"])(
    "(%s) is an upstream error",
    async (model) => {
      for (const client of CLIENTS) {
        const response = await post(gateway, client, { model, max_tokens: 99 });
        await expectError(response.clone(), client, "upstream_unavailable");
        expect(await response.text()).not.toContain(AZURE_TEXT);
        expect((await gateway.receiptOf(response)).captured).toBe(0n);
      }
    },
  );

  test("for a missing deployment is answered by the next route", async () => {
    const response = await post(gateway, CHAT, { model: "spare" });
    expect(await objectOf(response)).toMatchObject({ model: "spare" });
    const { outcome } = await gateway.receiptOf(response);
    expect(outcome?.attempts).toMatchObject([
      { upstream: "azure-dated", status: 404 },
      { upstream: "azure-v1", status: 200 },
    ]);
  });
});

test("case 168: the name of a deployment is encoded in the path", async () => {
  await post(gateway, CHAT, { model: "no such/deployment" });
  expect(gateway.upstream.seen[0]?.target).toStartWith("/openai/deployments/no%20such%2Fdeployment/chat/");
});

test("case 169: retry-after-ms of a throttled deployment rests it", async () => {
  gateway.upstream.on(
    "dated",
    azureError(429, "429", { headers: { "retry-after-ms": "41500", "x-ratelimit-remaining-requests": "0" } }),
  );
  const startedAt = performance.now();
  const response = await post(gateway, CHAT, { model: "dated" });
  const leastS = Math.ceil((41_500 - (performance.now() - startedAt)) / 1_000);
  expect(response.status).toBe(502);
  expect(Number(response.headers.get("retry-after"))).toBeWithin(leastS, 43);
  expect(response.headers.get("x-ratelimit-remaining-requests")).toBeNull();
});

describe("case 170: a stream that breaks off in its middle", () => {
  const faults = {
    // A reset discards what the gateway has not read yet.
    "by a reset": azureAnswer(undefined, { cutAt: 1_300, end: "reset", lingerMs: 1_000 }),
    "by an error event": answer({
      headers: EVENT_STREAM,
      body: `${frame("openai", [chunkOf("Hello there")]).replace("data: [DONE]\n\n", "")}data: {"error":{"code":"500","message":"${AZURE_TEXT}"}}\n\n`,
    }),
    "without a finish": answer({ headers: EVENT_STREAM, body: frame("openai", [chunkOf("Hello there")]) }),
  };
  const all = Object.entries(faults).flatMap(([how, script]) =>
    CLIENTS.map((client) => [how, client.name, script, client] as const),
  );
  test.each(all)(
    "%s ends with an error for a %s client, charged so far",
    async (_how, _name, script, client) => {
      gateway.upstream.on("dated", answerAsAzure(dated, script));
      const response = await post(gateway, client, { model: "dated", stream: true, max_tokens: 99 });
      const text = await response.text();
      expect(response.status).toBe(200);
      expect(text).toContain("Hello");
      expect(text).not.toContain(AZURE_TEXT);
      expect(JSON.stringify(framesOf(text).at(-1)?.json)).toContain("upstream_unavailable");
      const { captured, outcome } = await gateway.receiptOf(response);
      expect([captured > 0n, outcome?.source]).toEqual([true, "estimated"]);
    },
  );
});

function chunkOf(content: string): string {
  const choices = [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }];
  return JSON.stringify({ id: "a", object: "chat.completion.chunk", created: 1, model: "secret", choices });
}

test("case 171: a chat that names data of the provider's account is refused", async () => {
  for (const path of ["data_sources", "dataSources"]) {
    const response = await post(gateway, CHAT, { model: "dated", [path]: [{ type: "azure_search" }] });
    expect([response.status, await response.text()]).toEqual([422, expect.stringContaining(path)]);
  }
  expect(gateway.upstream.seen).toHaveLength(0);
});

describe("case 172: the OpenAI SDK", () => {
  const client = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "Say hello." }];

  test.each(["dated", "v1"])("chats with a deployment (%s), whole and streamed", async (model) => {
    const whole = await client().chat.completions.create({ model, messages });
    expect(whole).toMatchObject({ model, choices: [{ message: { content: "Hello there, friend." } }] });
    const stream = client().chat.completions.stream({ model, messages });
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe("Hello there, friend.");
  });

  test.each(["dated", "v1"])("uses responses and embeddings of a deployment (%s)", async (model) => {
    const response = await client().responses.create({ model, input: "Say hello." });
    expect(response.output_text).toBe("Hello there, friend.");
    const embeddings = await client().embeddings.create({ model, input: ["a", "b"] });
    expect(embeddings.data.map(({ embedding }) => embedding)).toHaveLength(2);
  });

  test("reads a refused prompt as an error of its request", async () => {
    gateway.upstream.on("dated", refusedPrompt);
    const refused = client().chat.completions.create({ model: "dated", messages });
    expect(await rejectionOf(refused)).toMatchObject({ status: 400, code: "invalid_request" });
  });
});

test("case 178: base_url may end with the path of either form, or with none", async () => {
  for (const model of ["openai-path", "v1-bare"]) {
    expect((await post(gateway, CHAT, { model })).status).toBe(200);
  }
});

test("case 179: a prompt that is too long for a deployment has its own error", async () => {
  const error = {
    message: `This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. ${AZURE_TEXT}`,
    type: "invalid_request_error",
    param: "messages",
    code: "context_length_exceeded",
  };
  gateway.upstream.on(
    "dated",
    answerAsAzure(dated, answer({ status: 400, body: JSON.stringify({ error }) })),
  );
  for (const client of CLIENTS) {
    const text = await (await post(gateway, client, { model: "dated", max_tokens: 99 })).text();
    expect(text).toContain("prompt is too long: 9001 tokens");
    expect(text).not.toContain(AZURE_TEXT);
  }
});

test("case 180: cached tokens of a deployment have their own price, and the receipt what they saved", async () => {
  const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello." } }];
  const prompt_tokens_details = { cached_tokens: 1_000, audio_tokens: 0 };
  const usage = { prompt_tokens: 1_500, completion_tokens: 7, total_tokens: 1_507, prompt_tokens_details };
  const body = JSON.stringify({ id: "a", object: "chat.completion", created: 1, model: "m", choices, usage });
  gateway.upstream.on("dated", answerAsAzure(dated, answer({ body })));
  const response = await post(gateway, CHAT, { model: "dated" });
  expect((await gateway.receiptOf(response)).captured).toBe(500n * 1_000n + 1_000n * 100n + 7n * 2_000n);
  const headers = { authorization: `Bearer ${gateway.secret}` };
  const id = response.headers.get("x-request-id");
  const receipt = await objectOf(await fetch(`${gateway.url}/v1/receipts/${id}`, { headers }));
  expect(receipt.saved_by_caching_usd).toBe("0.0009");
});

test("case 177: a rotated key is used from the next call on, and the running one ends", async () => {
  const { opened, open } = gate();
  gateway.upstream.on(
    "dated",
    answerAsAzure(dated, azureAnswer(undefined, { gate: opened })),
    answerAsAzure(dated),
  );
  const running = post(gateway, CHAT, { model: "dated" });
  await gateway.upstream.waitForSeen(1);
  dated.keys.clear();
  dated.keys.add("rotated-key");
  const { url } = gateway.upstream;
  const azure = scriptedUpstream("azure-dated", "azure", {
    baseUrl: url,
    apiKey: "rotated-key",
    apiVersion: VERSION,
  });
  gateway.tollgate.apply({
    models: [modelOn("dated", "azure-dated")],
    upstreams: [azure],
    keyLimits: {},
    accountLimits: {},
    clientDisconnect: "charge_input",
    drainMs: 2_000,
  });
  expect((await post(gateway, CHAT, { model: "dated" })).status).toBe(200);
  open();
  expect((await running).status).toBe(200);
  expect(gateway.upstream.seen.map(({ headers }) => headers["api-key"])).toEqual([
    "azure-key",
    "rotated-key",
  ]);
});
