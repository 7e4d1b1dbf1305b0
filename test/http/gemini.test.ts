import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { CHAT, dataOf, MESSAGES, objectOf, post, RESPONSES, type Surface } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import {
  API_KEY,
  chunkOf,
  type GoogleScript,
  googleError,
  type Json,
  type ScriptedGoogle,
  SHORT_ANSWER,
  startScriptedGoogle,
  streamOf,
  USAGE,
} from "../support/scripted-google.ts";
import { listAt, objectAt } from "../support/strict-json.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const MODEL = "gemini-3-flash-preview";
const SPARE = "gemini-2.5-flash";
const traits = { reasoning: "effort", sampling: true } as const;

let google: ScriptedGoogle;
let gateway: TestGateway;
beforeAll(async () => {
  google = startScriptedGoogle();
  const settings = { baseUrl: `${google.url}/v1beta`, apiKey: API_KEY };
  const routes = [
    scriptedRoute("gemini", MODEL, { traits }),
    scriptedRoute("spare", SPARE, { traits, priority: 2 }),
  ];
  gateway = await startTestGateway({
    upstreams: () => [
      scriptedUpstream("gemini", "gemini", settings),
      scriptedUpstream("spare", "gemini", settings),
      scriptedUpstream("revoked", "gemini", { ...settings, apiKey: "revoked" }),
    ],
    models: [
      scriptedModel("g", "gemini", { routes: routes.slice(0, 1) }),
      scriptedModel("g-spare", "gemini", { routes }),
      scriptedModel("g-large", "gemini", { routes: routes.slice(0, 1), outputTokensMax: 60_000 }),
      scriptedModel("g-embed", "gemini", { routes: routes.slice(0, 1), outputTokensMax: 0 }),
      ...["chat", "messages", "responses"].map((name) =>
        scriptedModel(`limited-${name}`, "gemini", { routes: [scriptedRoute("gemini", `limited-${name}`)] }),
      ),
      scriptedModel("g-revoked", "gemini", { routes: [scriptedRoute("revoked", MODEL)] }),
    ],
  });
});
beforeEach(() => google.reset());
afterAll(async () => {
  await gateway.stop();
  await google.stop();
});

type AnySurface = Surface<"chat" | "messages" | "responses">;
const SURFACES: readonly AnySurface[] = [CHAT, MESSAGES, RESPONSES];
const LIMIT = { chat: "max_tokens", messages: "max_tokens", responses: "max_output_tokens" };

function ask(surface: AnySurface, more: object = {}): Promise<Response> {
  return post(gateway, surface, { model: "g", [LIMIT[surface.name]]: 1_000, ...more });
}

function seenBody(): Json {
  return google.seen.at(-1)?.body ?? {};
}

/** The texts of a whole answer or of the deltas of a stream, wherever the format has them. */
function textsIn(value: unknown): string {
  return JSON.stringify(value);
}

/** Nano-USD of the scripted usage: 5 of input, 2 cached, 7 of output. */
const COST = 5_000n + 200n + 14_000n;

describe.each(SURFACES)("a client of $path", (surface) => {
  test("case 101: gets Gemini's answer whole, and pays for its thoughts and cached tokens", async () => {
    const response = await ask(surface);
    expect(textsIn(await objectOf(response.clone()))).toContain("Hello there.");
    expect(google.seen.at(-1)?.path).toBe(`/v1beta/models/${MODEL}:generateContent`);
    expect(seenBody()).toEqual({
      contents: [{ role: "user", parts: [{ text: "Say hello." }] }],
      generationConfig: { maxOutputTokens: 1_000 },
    });
    const receipt = await gateway.receiptOf(response);
    expect(receipt).toMatchObject({ captured: COST, request: { surface: surface.name } });
  });

  test("case 102: gets Gemini's stream piece by piece, and pays for its last usage", async () => {
    const first = { usageMetadata: { promptTokenCount: 7, totalTokenCount: 7 } };
    google.on(MODEL, [
      chunkOf([{ text: "Hello" }], first),
      chunkOf([{ text: " there." }]),
      chunkOf([], { usageMetadata: USAGE }, "STOP"),
    ]);
    const response = await ask(surface, { stream: true });
    const events = textsIn(await dataOf(response.clone()));
    expect(events).toContain('"Hello"');
    expect(events).toContain('" there."');
    expect(google.seen.at(-1)?.path).toEndWith(":streamGenerateContent");
    expect((await gateway.receiptOf(response)).captured).toBe(COST);
  });

  test("case 103: gets a safety stop as a filtered answer", async () => {
    google.on(MODEL, [chunkOf([{ text: "I" }], { usageMetadata: USAGE }, "SAFETY")]);
    const answer = textsIn(await objectOf(await ask(surface)));
    expect(answer).toMatch(/"content_filter"|"stop_reason":"refusal"/);
  });

  test("case 104: gets a blocked prompt as a filtered answer, and pays for the prompt", async () => {
    google.on(MODEL, [{ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 7 } }]);
    const response = await ask(surface, { stream: true });
    expect(await response.clone().text()).toMatch(/"content_filter"|"stop_reason":"refusal"/);
    expect((await gateway.receiptOf(response)).captured).toBe(7_000n);
  });

  test("case 105: is told of an empty answer, and pays for its tokens", async () => {
    google.on(MODEL, [chunkOf([], { usageMetadata: USAGE }, "MALFORMED_FUNCTION_CALL")]);
    const response = await ask(surface);
    await expectError(response.clone(), surface, "empty_charged");
    expect((await gateway.receiptOf(response)).captured).toBe(COST);
  });

  test("case 106: pays nothing for a stream that is cut before its output", async () => {
    google.on(MODEL, () => streamOf([{ usageMetadata: { promptTokenCount: 7 } }]));
    const response = await ask(surface, { stream: true });
    expect(await response.clone().text()).toContain("error");
    expect((await gateway.receiptOf(response)).captured).toBe(0n);
  });

  test("case 107: gets an error in a stream that is cut after its output, and pays for that", async () => {
    google.on(MODEL, () => streamOf([chunkOf([{ text: "Hello" }], { usageMetadata: USAGE })]));
    const response = await ask(surface, { stream: true });
    const text = await response.clone().text();
    expect(text).toContain("Hello");
    expect(text).toContain("upstream_unavailable");
    expect((await gateway.receiptOf(response)).captured).toBeGreaterThanOrEqual(COST);
  });

  test("case 108: gets another route's answer when a stream begins with an error", async () => {
    const error = { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } };
    google.on(MODEL, () => streamOf([error]));
    const response = await ask(surface, { model: "g-spare", stream: true });
    expect(await response.text()).toContain("Hello there.");
    expect(google.seen.map(({ path }) => path)).toEqual([
      `/v1beta/models/${MODEL}:streamGenerateContent`,
      `/v1beta/models/${SPARE}:streamGenerateContent`,
    ]);
  });

  test("case 109: is told when to retry by the delay in the body of a 429", async () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.07s" }];
    const model = `limited-${surface.name}`;
    google.on(model, () => googleError(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", details));
    const response = await ask(surface, { model });
    await expectError(response.clone(), surface, "upstream_unavailable");
    expect(Number(response.headers.get("retry-after"))).toBeWithin(30, 36);
  });
});

const WEATHER = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const TOOLS = {
  chat: [{ type: "function", function: { name: "weather", parameters: WEATHER } }],
  messages: [{ name: "weather", input_schema: WEATHER }],
  responses: [{ type: "function", name: "weather", parameters: WEATHER }],
};
const CALLS: GoogleScript = [
  chunkOf([{ text: "Both at once.", thought: true }]),
  chunkOf([
    { functionCall: { id: "f1", name: "weather", args: { city: "Bonn" } }, thoughtSignature: "c2lnbmF0dXJl" },
    { functionCall: { name: "weather", args: { city: "Oslo" } } },
  ]),
  chunkOf([], { usageMetadata: USAGE }, "STOP"),
];

/** Returns the request that answers both calls of an answer in a format, with everything of the answer. */
function answerCalls(surface: AnySurface, answer: Json): object {
  if (surface.name === "chat") {
    const message = objectAt(objectAt(listAt(answer.choices)[0], "a choice").message, "a message");
    const results = listAt(message.tool_calls).map((call) => ({
      role: "tool",
      tool_call_id: objectAt(call, "a call").id,
      content: "rain",
    }));
    return { messages: [{ role: "user", content: "Both?" }, message, ...results] };
  }
  if (surface.name === "messages") {
    const content = listAt(answer.content).map((block) => objectAt(block, "a block"));
    const calls = content.filter(({ type }) => type === "tool_use");
    const results = calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "rain" }));
    const answered = { role: "assistant", content };
    return { messages: [{ role: "user", content: "Both?" }, answered, { role: "user", content: results }] };
  }
  const output = listAt(answer.output).map((item) => objectAt(item, "an item"));
  const calls = output.filter(({ type }) => type === "function_call");
  const results = calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "rain" }));
  return { input: [{ role: "user", content: "Both?" }, ...output, ...results] };
}

const REASONING = {
  chat: { reasoning_effort: "high" },
  messages: { thinking: { type: "enabled", budget_tokens: 20_000 }, max_tokens: 30_000 },
  responses: { reasoning: { effort: "high", summary: "auto" }, include: ["reasoning.encrypted_content"] },
};

describe.each(SURFACES)("tools and thinking on $path", (surface) => {
  test("case 110: parallel calls, their results and their signature go round", async () => {
    google.on(MODEL, CALLS, [SHORT_ANSWER]);
    const settings = { tools: TOOLS[surface.name], ...REASONING[surface.name], model: "g-large" };
    const first = await ask(surface, settings);
    const answer = await objectOf(first);
    expect(textsIn(answer)).toContain("Both at once.");
    const config = objectAt(seenBody().generationConfig, "a configuration");
    expect(config.thinkingConfig).toEqual({ thinkingLevel: "HIGH", includeThoughts: true });

    const second = await ask(surface, { ...settings, ...answerCalls(surface, answer) });
    expect([second.status, textsIn(await objectOf(second))]).toEqual([
      200,
      expect.stringContaining("Hello there."),
    ]);
    const [, model, user] = listAt(seenBody().contents).map((each) => objectAt(each, "a content"));
    expect(model?.parts).toEqual([
      {
        functionCall: { id: "f1", name: "weather", args: { city: "Bonn" } },
        thoughtSignature: "c2lnbmF0dXJl",
      },
      { functionCall: { id: expect.any(String), name: "weather", args: { city: "Oslo" } } },
    ]);
    expect(user?.parts).toEqual([
      { functionResponse: { id: "f1", name: "weather", response: { output: "rain" } } },
      { functionResponse: { id: expect.any(String), name: "weather", response: { output: "rain" } } },
    ]);
  });

  test("case 111: a streamed call has its name, its arguments and its finish", async () => {
    google.on(MODEL, CALLS);
    const response = await ask(surface, { stream: true, tools: TOOLS[surface.name] });
    const text = await response.text();
    expect(text).toContain("weather");
    expect(text).toContain('{\\"city\\":\\"Oslo\\"}');
    expect(text).toMatch(/"finish_reason":"tool_calls"|"stop_reason":"tool_use"|"type":"function_call"/);
  });

  test("case 112: the history of another provider is accepted, without its signatures", async () => {
    const calls = [{ id: "toolu_1", name: "weather", input: '{"city":"Bonn"}' }];
    const response = await ask(surface, { tools: TOOLS[surface.name], ...foreignHistory(surface, calls) });
    expect(response.status).toBe(200);
    const [, model] = listAt(seenBody().contents).map((each) => objectAt(each, "a content"));
    expect(model?.parts).toEqual([
      {
        functionCall: { id: "toolu_1", name: "weather", args: { city: "Bonn" } },
        thoughtSignature: "skip_thought_signature_validator",
      },
    ]);
  });
});

/** Returns a conversation in which another provider's model has called tools. */
function foreignHistory(surface: AnySurface, calls: readonly { id: string; name: string; input: string }[]) {
  const user = { role: "user", content: "And?" };
  if (surface.name === "chat") {
    const tool_calls = calls.map(({ id, name, input }) => ({
      id,
      type: "function",
      function: { name, arguments: input },
    }));
    const results = calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "rain" }));
    return { messages: [user, { role: "assistant", content: null, tool_calls }, ...results] };
  }
  if (surface.name === "messages") {
    const content = [
      { type: "thinking", thinking: "Hm.", signature: "EqQBCgIYAg==" },
      ...calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input: JSON.parse(input) })),
    ];
    const results = calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "rain" }));
    return { messages: [user, { role: "assistant", content }, { role: "user", content: results }] };
  }
  return {
    input: [
      user,
      ...calls.map(({ id, name, input }) => ({ type: "function_call", call_id: id, name, arguments: input })),
      ...calls.map(({ id }) => ({ type: "function_call_output", call_id: id, output: "rain" })),
    ],
  };
}

const PNG = "iVBORw0KGgo=";
const PDF = "JVBERi0xLjQK";
const MEDIA = {
  chat: {
    messages: [
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
          { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
        ],
      },
    ],
  },
  messages: {
    messages: [
      {
        role: "user",
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
          { type: "document", source: { type: "base64", media_type: "application/pdf", data: PDF } },
        ],
      },
    ],
  },
  responses: {
    input: [
      {
        role: "user",
        content: [
          { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
          { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` },
        ],
      },
    ],
  },
};
const SCHEMA = {
  type: "object",
  properties: { a: { type: "string" } },
  required: ["a"],
  additionalProperties: false,
};
const FORMATS = {
  chat: {
    response_format: { type: "json_schema", json_schema: { name: "n", schema: SCHEMA, strict: true } },
  },
  messages: { output_config: { format: { type: "json_schema", schema: SCHEMA } } },
  responses: { text: { format: { type: "json_schema", name: "n", schema: SCHEMA, strict: true } } },
};

describe.each(SURFACES)("media, formats and refusals on $path", (surface) => {
  test("case 113: images and documents are sent inline", async () => {
    expect((await ask(surface, MEDIA[surface.name])).status).toBe(200);
    expect(objectAt(listAt(seenBody().contents)[0], "a content").parts).toEqual([
      { inlineData: { mimeType: "image/png", data: PNG } },
      { inlineData: { mimeType: "application/pdf", data: PDF } },
    ]);
  });

  test("case 114: a schema of the answer is enforced", async () => {
    expect((await ask(surface, FORMATS[surface.name])).status).toBe(200);
    expect(seenBody().generationConfig).toMatchObject({
      responseMimeType: "application/json",
      responseJsonSchema: SCHEMA,
    });
  });

  test("case 115: a prompt that is too long is told with its tokens", async () => {
    const message = "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).";
    google.on(MODEL, () => googleError(400, "INVALID_ARGUMENT", message));
    const response = await ask(surface);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("prompt is too long: 1200293 tokens > 200000 maximum");
  });

  test("case 116: a key that Google rejects with 400 is the operator's fault", async () =>
    await expectError(await ask(surface, { model: "g-revoked" }), surface, "upstream_unavailable"));

  test("case 117: a request that Google rejects is the client's, and is not tried again", async () => {
    google.on(MODEL, () => googleError(400, "INVALID_ARGUMENT", "Unsupported MIME type: secret/text"));
    const response = await ask(surface, { model: "g-spare" });
    await expectError(response, surface, "rejected_by_upstream");
    expect(google.seen).toHaveLength(1);
  });
});

test("case 118: sampling settings of chat reach Gemini, with recordings", async () => {
  const content = [{ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }];
  const sampling = { temperature: 0.2, top_p: 0.9, seed: 7, frequency_penalty: 0.5, presence_penalty: 0 };
  const response = await ask(CHAT, { messages: [{ role: "user", content }], ...sampling, stop: ["END"] });
  expect(response.status).toBe(200);
  expect(seenBody()).toEqual({
    contents: [{ role: "user", parts: [{ inlineData: { mimeType: "audio/wav", data: "UklGRg==" } }] }],
    generationConfig: {
      maxOutputTokens: 1_000,
      temperature: 0.2,
      topP: 0.9,
      seed: 7,
      frequencyPenalty: 0.5,
      stopSequences: ["END"],
    },
  });
});

test.each([
  ["n", { n: 2 }],
  ["logprobs", { logprobs: true }],
])("case 119: %s, which an answer of Gemini cannot have in chat, is refused by name", async (path, more) => {
  await expectError(await ask(CHAT, more), CHAT, "untranslatable", {
    message: expect.stringContaining(path),
  });
  expect(google.seen).toHaveLength(0);
});

test("case 120: rankings have no route to Gemini", async () => {
  const response = await fetch(`${gateway.url}/v1/rerank`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "g-embed", query: "a", documents: ["b"] }),
  });
  await expectError(response, CHAT, "not_built");
});

test("case 121: tokens of a messages prompt are counted locally", async () => {
  const response = await fetch(`${gateway.url}/v1/messages/count_tokens`, {
    method: "POST",
    headers: { "x-api-key": gateway.secret, "content-type": "application/json" },
    body: JSON.stringify({ model: "g", messages: [{ role: "user", content: "Say hello." }] }),
  });
  expect([response.status, await response.json()]).toEqual([200, { input_tokens: expect.any(Number) }]);
});
