import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { dataOf, objectOf } from "../support/client.ts";
import { gate } from "../support/script.ts";
import { answerEmbeddings, answerWith } from "../support/scripted-answers.ts";
import {
  API_KEY,
  chunkOf,
  type ScriptedGoogle,
  startScriptedGoogle,
  USAGE,
} from "../support/scripted-google.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
} from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const MODEL = "gemini-3-flash-preview";
/** An id with a slash and a colon, as some catalogs have them. */
const GEMINI = "g/one:free";
const MODELS = ["chat", "claude", GEMINI];

let google: ScriptedGoogle;
let gateway: TestGateway;
beforeAll(async () => {
  google = startScriptedGoogle();
  const effort = { reasoning: "effort", sampling: true } as const;
  const adaptive = { reasoning: "adaptive", sampling: true } as const;
  gateway = await startTestGateway({
    upstreams: (scripted) => [
      ...scriptedUpstreams(scripted),
      scriptedUpstream("gemini", "gemini", { baseUrl: `${google.url}/v1beta`, apiKey: API_KEY }),
    ],
    models: [
      scriptedModel("chat", "openai"),
      scriptedModel("claude", "anthropic", {
        routes: [scriptedRoute("scripted-anthropic", "claude", { traits: adaptive })],
      }),
      scriptedModel("embed", "openai", { outputTokensMax: 0, outputTokensDefault: 0 }),
      scriptedModel(GEMINI, "gemini", { routes: [scriptedRoute("gemini", MODEL, { traits: effort })] }),
    ],
  });
});
beforeEach(() => google.reset());
afterAll(async () => {
  await gateway.stop();
  await google.stop();
});

const HELLO = { contents: [{ role: "user", parts: [{ text: "Say hello." }] }] };

interface CallOptions {
  readonly body?: object | string;
  readonly secret?: string;
  readonly root?: string;
  readonly signal?: AbortSignal;
}

function call(
  target: string,
  { body = HELLO, secret = gateway.secret, root = "v1beta", signal }: CallOptions = {},
) {
  return fetch(`${gateway.url}/${root}/models/${target}`, {
    method: "POST",
    headers: { "x-goog-api-key": secret, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    signal: signal ?? null,
  });
}

/** The texts of responses, joined. */
function textOf(responses: readonly unknown[]): string {
  return (
    JSON.stringify(responses)
      .match(/"text":"[^"]*"/g)
      ?.map((each) => each.slice(8, -1))
      .join("") ?? ""
  );
}

const HELLOS: Readonly<Record<string, string>> = { [GEMINI]: "Hello there." };

describe.each(MODELS)("a client of Gemini's form with the model %s", (model) => {
  const expected = HELLOS[model] ?? "Hello there, friend.";

  test("gets a whole answer, events and an array, and pays once for each", async () => {
    const whole = await call(`${model}:generateContent`);
    const events = await call(`${model}:streamGenerateContent?alt=sse`);
    const array = await call(`${model}:streamGenerateContent`);
    const [one, two, three] = [
      await objectOf(whole.clone()),
      await dataOf(events.clone()),
      await array.clone().json(),
    ];
    for (const responses of [[one], two, three]) {
      expect(textOf(responses)).toBe(expected);
      expect(responses.at(-1)).toMatchObject({ candidates: [{ finishReason: "STOP" }], modelVersion: model });
      expect(responses.at(-1)?.usageMetadata).toBeDefined();
    }
    expect(array.headers.get("content-type")).toBe("application/json");
    const receipts = await Promise.all([whole, events, array].map((each) => gateway.receiptOf(each)));
    for (const receipt of receipts)
      expect(receipt).toMatchObject({
        request: { surface: "gemini", model },
        captured: receipts[0]?.captured,
      });
    expect(receipts[0]?.captured).toBeGreaterThan(0n);
  });

  test("has its output bounded, whatever the spelling", async () => {
    for (const config of [
      { generationConfig: { maxOutputTokens: 40 } },
      { generation_config: { max_output_tokens: "40" } },
      { generationConfig: { max_output_tokens: 40 } },
    ]) {
      expect((await call(`${model}:generateContent`, { body: { ...HELLO, ...config } })).status).toBe(200);
      const sent = model === GEMINI ? google.seen.at(-1)?.body : sentBody();
      expect(
        JSON.stringify(sent)
          .match(/"max_?[a-z_]*tokens":"?(\d+)/gi)
          ?.join(),
      ).toEndWith(":40");
    }
    const both = { generationConfig: { maxOutputTokens: 4, max_output_tokens: 4_000_000 } };
    expect((await call(`${model}:generateContent`, { body: { ...HELLO, ...both } })).status).toBe(400);
  });

  test("whose stream breaks gets an error, as an event and as what older SDKs read, or in its array", async () => {
    const textOfBroken = async (method: string) => {
      const breakOff = breakStreams(model);
      const response = await call(`${model}:${method}`);
      breakOff();
      return response.text();
    };
    const events = await textOfBroken("streamGenerateContent?alt=sse");
    const lines = events.trim().split("\n\n");
    const error = { code: 502, status: "UNAVAILABLE", details: [{ reason: "upstream_unavailable" }] };
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ error });
    expect(lines.at(-2)).toBe(`data: ${lines.at(-1)}`);
    const array = JSON.parse(await textOfBroken("streamGenerateContent"));
    expect(array.length).toBeGreaterThan(1);
    expect(array.at(-1)).toMatchObject({ error });
    for (const text of [events, JSON.stringify(array)]) expect(text).not.toContain("finishReason");
    await gateway.nothingIsHeld();
  });

  test("that leaves holds nothing", async () => {
    const { opened, open } = gate();
    const leaving = new AbortController();
    if (model === GEMINI) {
      google.on(
        MODEL,
        () => new Response(hangingStream(opened), { headers: { "content-type": "text/event-stream" } }),
      );
    } else gateway.upstream.on(model, answerWith(undefined, { pauseAt: { bytes: 600, gate: opened } }));
    const response = await call(`${model}:streamGenerateContent?alt=sse`, { signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    await gateway.nothingIsHeld();
    open();
    gateway.upstream.on(model, answerWith());
  });
});

function sentBody(): unknown {
  return JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "");
}

/**
 * Makes the next stream of a model end without a finish, after some output. Returns what breaks it off: an end that
 * arrives together with the output would come first.
 */
function breakStreams(model: string): () => void {
  const { opened, open } = gate();
  const pauseAt = { bytes: 900, gate: opened };
  if (model === GEMINI) google.on(MODEL, [chunkOf([{ text: "Hel" }])]);
  else
    gateway.upstream.on(
      model,
      answerWith({ text: "Hello there, friend, and more." }, { pauseAt, cutAt: 900, end: "close" }),
    );
  return open;
}

function hangingStream(opened: Promise<unknown>): ReadableStream<Uint8Array> {
  const first = chunkOf([{ text: "Hel" }], { usageMetadata: USAGE });
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(first)}\n\n`));
      await opened;
    },
  });
}

describe("a loop of tools", () => {
  const tools = [
    {
      functionDeclarations: [{ name: "f", description: "F", parameters: { type: "OBJECT", properties: {} } }],
    },
  ];

  test("brings the thinking of an Anthropic model back to it, also where the client drops thoughts", async () => {
    const output = { reasoning: "Hm.", tool: { name: "f", arguments: "{}" }, usage: { input: 1, output: 1 } };
    gateway.upstream.on("claude", answerWith(output));
    const generationConfig = { thinkingConfig: { includeThoughts: true } };
    const first = await call("claude:generateContent", { body: { ...HELLO, tools, generationConfig } });
    const { candidates } = (await first.json()) as {
      candidates: [{ content: { parts: { thought?: boolean; functionCall?: { id: string } }[] } }];
    };
    const { parts } = candidates[0].content;
    expect(parts.some(({ thought }) => thought)).toBe(true);
    const kept = parts.filter(({ thought }) => !thought);
    const response = { name: "f", id: kept[0]?.functionCall?.id, response: { output: "done" } };
    const contents = [
      ...HELLO.contents,
      { role: "model", parts: kept },
      { role: "user", parts: [{ functionResponse: response }] },
    ];
    gateway.upstream.on("claude", answerWith());
    await call("claude:generateContent", { body: { contents, tools, generationConfig } });
    expect(sentBody()).toMatchObject({
      thinking: { type: "adaptive" },
      messages: [
        { role: "user" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "c2lnbmF0dXJl" },
            { type: "tool_use", id: "toolu_1" },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1" }] },
      ],
    });
    // A model of Google's gets the same conversation without a signature that it cannot read.
    await call(`${GEMINI}:generateContent`, { body: { contents, tools } });
    expect(google.refused).toEqual([]);
    expect(google.seen.at(-1)?.body.contents).toMatchObject([
      {},
      { parts: [{ thoughtSignature: "skip_thought_signature_validator" }] },
      {},
    ]);
  });
});

describe("an error in Google's form", () => {
  const errorOf = async (response: Response) => [response.status, await response.json()];
  const envelope = (code: number, status: string, reason: string) => [
    code,
    {
      error: {
        code,
        status,
        message: expect.any(String),
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            reason,
            domain: "tollgate",
            metadata: { requestId: expect.any(String) },
          },
        ],
      },
    },
  ];
  const paths = { "x-goog-api-key": "x" };

  test("has the contract's code and Google's status", async () => {
    const poor = await gateway.newPayer("0.000001");
    const ask = (target: string, options?: CallOptions) => call(target, options).then(errorOf);
    expect(await ask("chat:generateContent", { secret: "sk-tg-no" })).toEqual(
      envelope(401, "UNAUTHENTICATED", "invalid_api_key"),
    );
    expect(await ask("none:generateContent")).toEqual(envelope(404, "NOT_FOUND", "model_not_found"));
    expect(await ask("chat:somethingElse")).toEqual(envelope(404, "NOT_FOUND", "model_not_found"));
    expect(await ask("chat")).toEqual(envelope(404, "NOT_FOUND", "model_not_found"));
    expect(await ask("chat:batchGenerateContent")).toEqual(envelope(501, "UNIMPLEMENTED", "not_implemented"));
    expect(await ask("chat:generateContent", { body: "{" })).toEqual(
      envelope(400, "INVALID_ARGUMENT", "invalid_request"),
    );
    expect(await ask("chat:generateContent", { body: {} })).toEqual(
      envelope(400, "INVALID_ARGUMENT", "invalid_request"),
    );
    expect(await ask("chat:generateContent", { secret: poor.secret })).toEqual(
      envelope(402, "FAILED_PRECONDITION", "insufficient_balance"),
    );
    const files = await fetch(`${gateway.url}/v1beta/files`, { headers: paths });
    expect(await errorOf(files)).toEqual(envelope(501, "UNIMPLEMENTED", "not_implemented"));
    const unknown = await fetch(`${gateway.url}/v1beta/unknown`);
    expect(await errorOf(unknown)).toEqual(envelope(404, "NOT_FOUND", "model_not_found"));
  });

  test("has the time to wait, in a header and where SDKs read it", async () => {
    const { secret } = await gateway.newKey({ limits: { requestsPerMinute: 1 } });
    expect((await call("chat:generateContent", { secret })).status).toBe(200);
    const response = await call("chat:streamGenerateContent?alt=sse", { secret });
    expect(response.status).toBe(429);
    const seconds = response.headers.get("retry-after");
    expect(await response.json()).toMatchObject({
      error: {
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        details: [
          { reason: "rate_limit_exceeded" },
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${seconds}s` },
        ],
      },
    });
  });

  test("refuses a key in the URL, which the log does not show", async () => {
    const query = `key=${gateway.secret}`;
    const list = await fetch(`${gateway.url}/v1beta/models?${query}`, {
      headers: { "x-goog-api-key": gateway.secret },
    });
    const responses = [
      await call(`chat:generateContent?${query}`),
      await call(`chat:streamGenerateContent?alt=sse&${query}`),
      await call(`chat:generateContent?${query}`, { secret: "" }),
      await call(`embed:embedContent?${query}`),
      list,
    ];
    for (const response of responses) {
      const [status, body] = await errorOf(response);
      expect([status, body.error.details[0].reason]).toEqual([401, "invalid_api_key"]);
      expect(body.error.message).toContain("x-goog-api-key");
    }
    expect(gateway.log.text()).not.toContain(gateway.secret);
    expect(gateway.log.text()).not.toContain("key=");
  });
});

describe("a body in Google's form", () => {
  test.each<[string, string]>([
    ["that is empty", ""],
    ["that is a list", "[]"],
    ["that is no JSON", '{"contents":[}'],
    ["that names a model itself", '{"model":"dear","contents":[{"parts":[{"text":"a"}]}]}'],
    ["that names a stream itself", '{"stream":true,"contents":[{"parts":[{"text":"a"}]}]}'],
    ["with more after its end", '{"contents":[{"parts":[{"text":"a"}]}]} }'],
    ["that is nested deeply", `{"contents":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
  ])("%s is refused", async (_name, body) => {
    const response = await call("chat:generateContent", { body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 400 } });
  });

  test("may have white space after its end, and come below /v1 and with a bearer token", async () => {
    const body = `${JSON.stringify(HELLO)}\r\n\t `;
    const headers = { authorization: `Bearer ${gateway.secret}` };
    const response = await fetch(`${gateway.url}/v1/models/g%2Fone%3Afree:generateContent`, {
      method: "POST",
      headers,
      body,
    });
    expect(response.status).toBe(200);
    expect(Object.keys(google.seen.at(-1)?.body ?? {})).toEqual(["contents", "generationConfig"]);
  });
});

describe.each(["chat", GEMINI])("a large body for the model %s", (model) => {
  test("is read in another thread, with its model and its bounds", async () => {
    const body = {
      contents: [{ role: "user", parts: [{ text: "word ".repeat(300_000) }] }],
      generation_config: { max_output_tokens: 40 },
    };
    expect((await call(`${model}:generateContent`, { body })).status).toBe(200);
    const sent = model === GEMINI ? google.seen.at(-1)?.body : sentBody();
    expect(JSON.stringify(sent).replaceAll("word ", "")).toMatch(/max_(?:output_|completion_)?tokens":40/);
    if (model === GEMINI) expect(Object.keys(sent ?? {})).toEqual(["contents", "generation_config"]);
  });
});

describe("other methods of Google's", () => {
  test("count the tokens of a prompt, plain or wrapped", async () => {
    for (const body of [HELLO, { generateContentRequest: { model: "models/chat", ...HELLO } }])
      for (const model of MODELS) {
        const response = await call(`${model}:countTokens`, { body });
        expect([response.status, await response.json()]).toEqual([200, { totalTokens: expect.any(Number) }]);
      }
  });

  test("embed one text and several, priced as embeddings", async () => {
    gateway.upstream.on("embed", answerEmbeddings());
    const content = { parts: [{ text: "a" }, { text: "b" }] };
    const one = await call("embed:embedContent", { body: { content, outputDimensionality: 3 } });
    expect(await one.clone().json()).toEqual({ embedding: { values: [0.5, -0.25, 0.125] } });
    expect(sentBody()).toEqual({ model: "embed", input: ["a\nb"], dimensions: 3, encoding_format: "float" });
    expect(await gateway.receiptOf(one)).toMatchObject({
      captured: 11_000n,
      request: { surface: "embeddings" },
    });
    const requests = [{ model: "models/embed", content }, { content: { parts: { text: "c" } } }];
    const several = await call("embed:batchEmbedContents", { body: { requests } });
    expect(await several.json()).toEqual({
      embeddings: [{ values: [0.5, -0.25, 0.125] }, { values: [0.5, -0.25, 0.125] }],
    });
    const other = await call("embed:batchEmbedContents", {
      body: { requests: [{ model: "models/dear", content }] },
    });
    expect([other.status, await other.json()]).toMatchObject([400, { error: { code: 400 } }]);
  });

  test("list the models that the key may use, and read one", async () => {
    const { secret } = await gateway.newKey({ models: ["chat", GEMINI] });
    const headers = { "x-goog-api-key": secret };
    const list = await (await fetch(`${gateway.url}/v1beta/models?pageSize=50`, { headers })).json();
    expect(list.models.map(({ name }: { name: string }) => name)).toEqual([
      "models/chat",
      `models/${GEMINI}`,
    ]);
    const one = await fetch(`${gateway.url}/v1beta/models/${GEMINI}`, { headers });
    expect(await one.json()).toMatchObject({
      name: `models/${GEMINI}`,
      inputTokenLimit: 200_000,
      outputTokenLimit: 8_000,
      supportedGenerationMethods: ["generateContent", "streamGenerateContent", "countTokens"],
    });
    expect((await fetch(`${gateway.url}/v1beta/models/claude`, { headers })).status).toBe(404);
    // Newer SDKs of Google's call the version whose paths others have too.
    expect(await (await fetch(`${gateway.url}/v1/models`, { headers })).json()).toEqual(list);
    expect(await (await fetch(`${gateway.url}/v1/models/chat`, { headers })).json()).toEqual(list.models[0]);
    const bearer = { authorization: `Bearer ${secret}` };
    expect((await (await fetch(`${gateway.url}/v1/models`, { headers: bearer })).json()).object).toBe("list");
  });
});
