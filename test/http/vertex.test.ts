import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { CHAT, dataOf, MESSAGES, objectOf, post, RESPONSES } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import {
  type GoogleScript,
  googleError,
  PROJECT,
  type ScriptedGoogle,
  SUBJECT_TOKEN,
  startScriptedGoogle,
  TOKEN,
} from "../support/scripted-google.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const CLAUDE = "claude-sonnet-4-5@20250929";
const GEMINI = "gemini-2.5-flash";
const ROOT = `projects/${PROJECT}/locations/global/publishers`;

let google: ScriptedGoogle;
let gateway: TestGateway;
beforeAll(async () => {
  google = startScriptedGoogle();
  const subjectFile = join(tempFolder(), "subject.jwt");
  await Bun.write(subjectFile, SUBJECT_TOKEN);
  const place = { project: PROJECT, location: "global" };
  const vertex = (name: string, credentials: string) =>
    scriptedUpstream(name, "vertex", { baseUrl: google.url, apiKey: "", google: { ...place, credentials } });
  gateway = await startTestGateway({
    upstreams: () => [
      vertex("vertex", google.credentials(subjectFile)),
      vertex("lost", google.credentials(`${subjectFile}.gone`)),
      vertex("burst", google.credentials(subjectFile)),
      scriptedUpstream("named", "vertex", {
        baseUrl: google.url,
        apiKey: "",
        google: { ...place, credentials: google.credentials(subjectFile) },
        betaNames: {
          "context-management-2025-06-27": false,
          "advanced-tool-use-2025-11-20": false,
          "search-2027": TOOL_SEARCH,
        },
      }),
    ],
    models: [
      scriptedModel("claude", "vertex", { routes: [scriptedRoute("vertex", CLAUDE)] }),
      scriptedModel("gemini", "vertex", { routes: [scriptedRoute("vertex", GEMINI)] }),
      scriptedModel("lost", "vertex", { routes: [scriptedRoute("lost", GEMINI)] }),
      scriptedModel("named", "vertex", { routes: [scriptedRoute("named", CLAUDE)] }),
      scriptedModel("burst", "vertex", { routes: [scriptedRoute("burst", GEMINI)] }),
    ],
  });
});
beforeEach(() => google.reset());
afterAll(async () => {
  await gateway.stop();
  await google.stop();
});

const MESSAGE = {
  id: "msg_vrtx_1",
  type: "message",
  role: "assistant",
  model: CLAUDE,
  content: [{ type: "text", text: "Hello there." }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 7, output_tokens: 3 },
};
const EVENTS = [
  { type: "message_start", message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello there." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
  { type: "message_stop" },
];
/** Answers as Anthropic does: whole, or with the events of a stream. */
const asAnthropic: GoogleScript = (_call, isStream) =>
  isStream
    ? new Response(
        EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
        {
          headers: { "content-type": "text/event-stream" },
        },
      )
    : Response.json(MESSAGE);

describe.each([CHAT, MESSAGES, RESPONSES])("a client of $path", (surface) => {
  const limit = surface.name === "responses" ? { max_output_tokens: 100 } : { max_tokens: 100 };

  test("case 122: is answered by Claude through rawPredict, whole and streamed", async () => {
    google.on(CLAUDE, asAnthropic);
    const whole = await post(gateway, surface, { model: "claude", ...limit });
    expect(JSON.stringify(await objectOf(whole))).toContain("Hello there.");
    const streamed = await post(gateway, surface, { model: "claude", stream: true, ...limit });
    expect(JSON.stringify(await dataOf(streamed))).toContain("Hello there.");
    expect(google.seen.map(({ path }) => path)).toEqual([
      `/v1/${ROOT}/anthropic/models/${CLAUDE}:rawPredict`,
      `/v1/${ROOT}/anthropic/models/${CLAUDE}:streamRawPredict`,
    ]);
    expect(google.refused).toEqual([]);
    expect((await gateway.receiptOf(whole)).captured).toBe(13_000n);
  });

  test("case 123: is answered by Gemini in Gemini's format, whole and streamed", async () => {
    const whole = await post(gateway, surface, { model: "gemini", ...limit });
    expect(JSON.stringify(await objectOf(whole))).toContain("Hello there.");
    const streamed = await post(gateway, surface, { model: "gemini", stream: true, ...limit });
    expect(JSON.stringify(await dataOf(streamed))).toContain("Hello there.");
    expect(google.seen.map(({ path }) => path)).toEqual([
      `/v1beta1/${ROOT}/google/models/${GEMINI}:generateContent`,
      `/v1beta1/${ROOT}/google/models/${GEMINI}:streamGenerateContent`,
    ]);
  });

  test("case 124: is told that the model is away when Google grants no token, without its text", async () => {
    const response = await post(gateway, surface, { model: "lost", ...limit });
    await expectError(response, surface, "upstream_unavailable");
    const lines = gateway.log.about(response.headers.get("x-request-id") ?? "");
    const failed = { event: "attempt failed", fault: "CredentialsUnavailable", code: "NO_CREDENTIALS" };
    expect(lines).toContainEqual(expect.objectContaining(failed));
    expect(gateway.log.text()).not.toContain("subject.jwt");
  });
});

test("case 125: a burst of requests asks for one token, and later ones for none", async () => {
  const burst = Array.from({ length: 12 }, () => post(gateway, CHAT, { model: "burst" }));
  expect((await Promise.all(burst)).map(({ status }) => status)).toEqual(Array(12).fill(200));
  expect(google.tokens).toBe(1);
  await post(gateway, CHAT, { model: "burst" });
  expect(google.tokens).toBe(1);
});

test("case 126: headers of Anthropic's clients reach Claude, and their credentials do not", async () => {
  google.on(CLAUDE, asAnthropic);
  const headers = { "anthropic-beta": "interleaved-thinking-2025-05-14", "x-api-key": gateway.secret };
  const response = await post(gateway, MESSAGES, { max_tokens: 100, headers });
  expect(response.status).toBe(200);
  const sent = google.seen[0]?.headers;
  expect(sent?.get("anthropic-beta")).toBe("interleaved-thinking-2025-05-14");
  expect(sent?.get("authorization")).toBe(`Bearer ${TOKEN}`);
  expect(sent?.has("x-api-key")).toBe(false);
});

/** The betas that Claude Code sends with every request. */
const AGENT =
  "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,mid-conversation-tool-changes-2026-07-01,thinking-token-count-2026-05-13,advanced-tool-use-2025-11-20,effort-2025-11-24";
const TOOL_SEARCH = "tool-search-tool-2025-10-19";
const DEFERRED = {
  context_management: { edits: [] },
  tools: [
    { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" },
    { name: "f", input_schema: { type: "object" }, defer_loading: true, input_examples: [{}] },
  ],
};

test("betas of Claude Code reach Claude as far as Google knows them, under its names", async () => {
  google.on(CLAUDE, asAnthropic);
  const headers = { "anthropic-beta": AGENT };
  const body = { max_tokens: 100, headers, ...DEFERRED, anthropic_beta: ["files-api-2025-04-14"] };
  for (const stream of [false, true]) {
    expect((await post(gateway, MESSAGES, { ...body, stream })).status).toBe(200);
  }
  expect(google.refused).toEqual([]);
  const betas = `interleaved-thinking-2025-05-14,context-management-2025-06-27,${TOOL_SEARCH}`;
  expect(google.seen.map((call) => call.headers.get("anthropic-beta"))).toEqual([betas, betas]);
  expect(google.seen[0]?.body).toMatchObject({
    context_management: { edits: [] },
    tools: [{ name: "tool_search_tool_regex" }, { name: "f", defer_loading: true }],
  });
});

test("fields of a beta that Google does not get are dropped with it", async () => {
  google.on(CLAUDE, asAnthropic);
  const headers = { "anthropic-beta": "effort-2025-11-24" };
  const response = await post(gateway, MESSAGES, { max_tokens: 100, headers, ...DEFERRED });
  expect(response.status).toBe(200);
  expect(google.seen[0]?.headers.has("anthropic-beta")).toBe(false);
  expect(google.seen[0]?.body.tools).toEqual([{ name: "f", input_schema: { type: "object" } }]);
  expect(google.seen[0]?.body).not.toHaveProperty("context_management");
});

test("the operator's names of betas come before the known ones, and false drops a beta", async () => {
  google.on(CLAUDE, asAnthropic);
  const headers = { "anthropic-beta": `${AGENT},search-2027` };
  await post(gateway, MESSAGES, { model: "named", max_tokens: 100, headers, ...DEFERRED });
  expect(google.seen[0]?.headers.get("anthropic-beta")).toBe(
    `interleaved-thinking-2025-05-14,${TOOL_SEARCH}`,
  );
  expect(google.refused).toEqual([]);
});

test("a count of Claude Code's prompt has the betas that Google knows, in its header", async () => {
  google.on("count-tokens", () => Response.json({ input_tokens: 42 }));
  const response = await fetch(`${gateway.url}/v1/messages/count_tokens`, {
    method: "POST",
    headers: {
      "x-api-key": gateway.secret,
      "content-type": "application/json",
      "anthropic-beta": "effort-2025-11-24",
    },
    body: JSON.stringify({ model: "claude", messages: [{ role: "user", content: "Hello." }], ...DEFERRED }),
  });
  expect(await response.json()).toEqual({ input_tokens: 42 });
  expect(google.refused).toEqual([]);
});

test("case 127: tokens of a Claude prompt are counted by Vertex AI", async () => {
  google.on("count-tokens", () => Response.json({ input_tokens: 42 }));
  const response = await fetch(`${gateway.url}/v1/messages/count_tokens`, {
    method: "POST",
    headers: { "x-api-key": gateway.secret, "content-type": "application/json" },
    body: JSON.stringify({ model: "claude", messages: [{ role: "user", content: "Say hello." }] }),
  });
  expect(await response.json()).toEqual({ input_tokens: 42 });
  expect(google.seen.map(({ path, body }) => [path, body.model])).toEqual([
    [`/v1/${ROOT}/anthropic/models/count-tokens:rawPredict`, CLAUDE],
  ]);
});

test("case 128: a call that Google rejects with 401 is sent once more, and then fails", async () => {
  let calls = 0;
  google.on(GEMINI, () => {
    calls += 1;
    return googleError(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.");
  });
  await expectError(await post(gateway, CHAT, { model: "gemini" }), CHAT, "upstream_unavailable");
  expect(calls).toBe(2);
});
