// The routes of /v1 parse their own bodies and carry no schemas, so that they are described here by hand.
import { ERRORS, type ErrorRow } from "../../errors.ts";

type Json = Record<string, unknown>;

/** One hand-written route; `{name}` in the path is a parameter. */
interface V1Route {
  readonly method: "get" | "post";
  readonly path: string;
  readonly summary: string;
  readonly text: string;
  readonly surface: Surface;
  /** A body; its first two members are required. */
  readonly example?: Json;
  /** What a request without a stream is answered. */
  readonly answer?: Json;
  readonly isStreamed?: boolean;
}

type ErrorSurface = "chat" | "messages" | "responses";
type Surface = ErrorSurface | "open";

const HELLO = [{ role: "user", content: "Hello" }];
const MODEL = {
  id: "demo",
  object: "model",
  created: 1_795_348_800,
  owned_by: "tollgate",
  type: "model",
  display_name: "demo",
  created_at: "2026-11-22T12:00:00.000Z",
  context_window: 200_000,
  max_input_tokens: 200_000,
  max_tokens: 32_000,
  default_max_output_tokens: 4_000,
  price_usd_per_million_tokens: {
    input: "0.40",
    output: "1.60",
    cached_input: "0.10",
    cache_write: "0.40",
    cache_write_1h: "0.40",
  },
  can: ["tools", "images"],
  architecture: { input_modalities: ["text", "image"] },
};
const ROUTES: readonly V1Route[] = [
  {
    method: "post",
    path: "/v1/chat/completions",
    summary: "Create a chat completion",
    text: "The chat surface of OpenAI. Unknown fields are forwarded to an upstream of the same format.",
    surface: "chat",
    example: { model: "demo", messages: HELLO, max_tokens: 256 },
    isStreamed: true,
    answer: {
      id: "chatcmpl-01a20379",
      object: "chat.completion",
      created: 1_795_348_800,
      model: "demo",
      choices: [{ index: 0, message: { role: "assistant", content: "Hello!" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
    },
  },
  {
    method: "post",
    path: "/v1/messages",
    summary: "Create a message",
    text: "The messages surface of Anthropic, with its own envelope of errors.",
    surface: "messages",
    example: { model: "demo", messages: HELLO, max_tokens: 256 },
    isStreamed: true,
    answer: {
      id: "msg_01a20379",
      type: "message",
      role: "assistant",
      model: "demo",
      content: [{ type: "text", text: "Hello!" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 9, output_tokens: 2 },
    },
  },
  {
    method: "post",
    path: "/v1/messages/count_tokens",
    summary: "Count the tokens of a message",
    text: "Counted here; nothing is charged.",
    surface: "messages",
    example: { model: "demo", messages: HELLO },
    answer: { input_tokens: 9 },
  },
  {
    method: "post",
    path: "/v1/responses",
    summary: "Create a response",
    text: "The responses surface of OpenAI. Nothing is stored: `store` must be false or absent.",
    surface: "responses",
    example: { model: "demo", input: "Hello", store: false },
    isStreamed: true,
    answer: {
      id: "resp_01a20379",
      object: "response",
      status: "completed",
      model: "demo",
      output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello!" }] }],
      usage: { input_tokens: 9, output_tokens: 2, total_tokens: 11 },
    },
  },
  {
    method: "post",
    path: "/v1/embeddings",
    summary: "Create embeddings",
    text: "The embeddings surface of OpenAI.",
    surface: "chat",
    example: { model: "demo", input: "Hello" },
    answer: {
      object: "list",
      model: "demo",
      data: [{ object: "embedding", index: 0, embedding: [0.0123, -0.0456] }],
      usage: { prompt_tokens: 2, total_tokens: 2 },
    },
  },
  {
    method: "post",
    path: "/v1/rerank",
    summary: "Rank documents",
    text: "Ranks documents by a query, in the form of Cohere, Jina and Voyage.",
    surface: "chat",
    example: { model: "rerank-v3.5", query: "What is a hold?", documents: ["Reserved money.", "A cat."] },
    answer: { results: [{ index: 0, relevance_score: 0.98 }], meta: { billed_units: { search_units: 1 } } },
  },
  {
    method: "post",
    path: "/v1/moderations",
    summary: "Judge texts and images",
    text: "The moderations of OpenAI.",
    surface: "chat",
    example: { model: "omni-moderation", input: "Hello" },
    answer: { id: "modr-1", model: "omni-moderation", results: [{ flagged: false }] },
  },
  {
    method: "post",
    path: "/v1/images/generations",
    summary: "Generate images",
    text: "The images of OpenAI, without streams.",
    surface: "chat",
    example: { model: "dall-e-3", prompt: "A cat", size: "1024x1024" },
    answer: { created: 1_790_000_000, data: [{ b64_json: "aW1hZ2U=" }] },
  },
  {
    method: "post",
    path: "/v1/audio/speech",
    summary: "Speak a text",
    text: "The answer is an audio file, or events with `stream_format: sse`.",
    surface: "chat",
    example: { model: "tts-1", voice: "alloy", input: "Hello" },
  },
  {
    method: "post",
    path: "/v1/audio/transcriptions",
    summary: "Transcribe an audio file",
    text: "The body is a form, `multipart/form-data`, with `model` and `file`.",
    surface: "chat",
    answer: { text: "Hello" },
  },
  {
    method: "get",
    path: "/v1/models",
    summary: "List the models",
    text: "Models that the key may use.",
    surface: "chat",
    answer: {
      object: "list",
      data: [MODEL],
      has_more: false,
      first_id: "demo",
      last_id: "demo",
    },
  },
  {
    method: "get",
    path: "/v1/models/{id}",
    summary: "Read one model",
    text: "404 also for a model that the key may not use.",
    surface: "chat",
    answer: MODEL,
  },
  {
    method: "get",
    path: "/v1/key",
    summary: "Read the key that sends the request",
    text: "Limits, what is used and remains of them, when they reset, and the wallet.",
    surface: "chat",
  },
  {
    method: "get",
    path: "/v1/receipts/{request_id}",
    summary: "Read a receipt",
    text: "What one request held and was charged, by its `x-request-id`.",
    surface: "chat",
  },
  { method: "get", path: "/healthz", summary: "Is the process alive", text: "Always 200.", surface: "open" },
  {
    method: "get",
    path: "/readyz",
    summary: "Can requests be sent",
    text: "JSON with the result of each check. 503 while draining, and while a check fails.",
    surface: "open",
  },
];

/** Every code of the error contract, in the order of the table. */
const ERROR_CODES: readonly string[] = [...new Set(rows().map(({ code }) => code))];

/** Describes `/v1` and the health checks as paths of OpenAPI. */
export function describeV1(): Record<string, Record<string, Json>> {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of ROUTES) {
    paths[route.path] = { ...paths[route.path], [route.method]: describeRoute(route) };
  }
  return paths;
}

/** The schemas and the ways to authenticate that the description names. */
export function describeShared(): {
  readonly schemas: Json;
  readonly responses: Json;
  readonly securitySchemes: Json;
} {
  return {
    responses: { ...describeErrors("chat"), ...describeErrors("messages"), ...describeErrors("responses") },
    schemas: {
      Error: envelope({ message: { type: "string" }, type: { type: "string" }, code: codes() }),
      MessagesError: {
        type: "object",
        properties: {
          type: { const: "error" },
          error: {
            type: "object",
            properties: {
              type: { type: "string" },
              message: { type: "string" },
              details: { type: "object", properties: { error_code: codes() } },
            },
          },
          request_id: { type: "string" },
        },
      },
    },
    securitySchemes: {
      key: { type: "http", scheme: "bearer", description: "An API key, sk-tg-…; also taken as x-api-key" },
      managementKey: { type: "http", scheme: "bearer", description: "A management key, mk-tg-…" },
      session: {
        type: "apiKey",
        in: "cookie",
        name: "tollgate.session",
        description: "The sign-in's cookie",
      },
    },
  };
}

/** Answers of a failure on a surface, by status, as references to {@link describeShared}. */
export function referToErrors(surface: ErrorSurface): Record<string, Json> {
  return Object.fromEntries(
    [...codesByStatus(surface).keys()].map((status) => [
      String(status),
      { $ref: `#/components/responses/${surface}_${status}` },
    ]),
  );
}

/** The codes that each status of a surface may stand for. */
function describeErrors(surface: ErrorSurface): Record<string, Json> {
  const name = surface === "messages" ? "MessagesError" : "Error";
  const schema = { $ref: `#/components/schemas/${name}` };
  return Object.fromEntries(
    [...codesByStatus(surface)].map(([status, names]) => [
      `${surface}_${status}`,
      { description: names.join(", "), content: { "application/json": { schema } } },
    ]),
  );
}

function codesByStatus(surface: ErrorSurface): ReadonlyMap<number, readonly string[]> {
  const byStatus = Map.groupBy(rows(), (row) => row[surface][0]);
  const sorted = [...byStatus].sort(([a], [b]) => a - b);
  return new Map(sorted.map(([status, group]) => [status, [...new Set(group.map(({ code }) => code))]]));
}

function describeRoute({ summary, text, surface, path, example, answer, isStreamed }: V1Route): Json {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const ok = { description: "The answer", ...answerContent(answer, isStreamed ?? false) };
  return {
    summary,
    description: text,
    tags: [surface === "open" ? "Health" : "Models and requests"],
    parameters: names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
    ...(example ? { requestBody: describeBody(example) } : {}),
    responses: { 200: ok, ...(surface === "open" ? {} : referToErrors(surface)) },
    ...(surface === "open" ? {} : { security: [{ key: [] }] }),
  };
}

function describeBody(example: Json): Json {
  const properties = Object.fromEntries(
    Object.entries(example).map(([name, value]) => [name, { type: typeOf(value) }]),
  );
  const required = Object.keys(example).slice(0, 2);
  const schema = { type: "object", required, properties, additionalProperties: true };
  return { required: true, content: { "application/json": { schema, example } } };
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value;
}

function answerContent(example: Json | undefined, isStreamed: boolean): Json {
  const json = { "application/json": { schema: { type: "object" }, ...(example ? { example } : {}) } };
  const stream = { "text/event-stream": { schema: { type: "string" } } };
  return { content: isStreamed ? { ...json, ...stream } : json };
}

function rows(): readonly ErrorRow[] {
  return Object.values(ERRORS);
}

function envelope(properties: Json): Json {
  return {
    type: "object",
    required: ["error"],
    properties: { error: { type: "object", required: Object.keys(properties), properties } },
  };
}

function codes(): Json {
  return { type: "string", enum: ERROR_CODES };
}
