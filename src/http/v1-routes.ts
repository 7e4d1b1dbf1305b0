/** JSON of an example or a schema. */
export type Json = Record<string, unknown>;

/** One hand-written route; `{name}` in the path is a parameter. */
export interface V1Route {
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

/** The formats of errors. */
export type ErrorSurface = "chat" | "messages" | "responses" | "gemini";
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
/** The routes of /v1. They parse their own bodies and carry no schemas, so that they are described by hand. */
export const V1_ROUTES: readonly V1Route[] = [
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
    text: "The responses surface of OpenAI. Nothing is stored: `store` must be false or absent. A `GET` opens a WebSocket for many responses.",
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
    path: "/v1/responses/compact",
    summary: "Compact a conversation",
    text: "OpenAI's compaction, for models whose upstream has the responses surface; others answer 501.",
    surface: "responses",
    example: { model: "demo", input: "Hello" },
    answer: {
      id: "resp_01a20379",
      object: "response.compaction",
      created_at: 1_790_000_000,
      output: [{ id: "cmp_01a20379", type: "compaction", encrypted_content: "…" }],
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
    path: "/v2/rerank",
    summary: "Rank documents, version 2",
    text: "The same as `/v1/rerank`, at the path of Cohere's SDKs.",
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
    text: "The images of OpenAI, and their streams with `stream: true` and `partial_images`.",
    surface: "chat",
    example: { model: "dall-e-3", prompt: "A cat", size: "1024x1024" },
    answer: { created: 1_790_000_000, data: [{ b64_json: "aW1hZ2U=" }] },
  },
  {
    method: "post",
    path: "/v1/images/edits",
    summary: "Edit images",
    text: "The body is a form, `multipart/form-data`, with up to 16 files `image`, one `mask` and a `prompt`.",
    surface: "chat",
    answer: { created: 1_790_000_000, data: [{ b64_json: "aW1hZ2U=" }] },
  },
  {
    method: "post",
    path: "/v1/images/variations",
    summary: "Vary an image",
    text: "The body is a form, `multipart/form-data`, with one file `image`.",
    surface: "chat",
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
    method: "post",
    path: "/v1/audio/translations",
    summary: "Transcribe an audio file into English",
    text: "The form of a transcription. The answer is never streamed.",
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
    text: "Every limit that binds it, what is used and remains of them, when they reset, and the wallet with its credits in the order of spending.",
    surface: "chat",
  },
  {
    method: "post",
    path: "/v1/key/children",
    summary: "Make a key below the key that sends the request",
    text: "Its own limit and all limits of its parent bind it. It ends with its parent at the latest. The secret is shown once.",
    surface: "chat",
    example: {
      name: "run",
      spending_limit_usd: "2.00",
      period: "total",
      expires_in_s: 3_600,
      models: ["demo"],
    },
    answer: {
      object: "key",
      id: "01a20379-7e2c-7000-8000-000000000000",
      name: "run",
      secret: "sk-tg-…",
      parent_id: "01a20379-0000-7000-8000-000000000000",
      models: ["demo"],
      expires_at: "2026-11-22T13:00:00.000Z",
      allows_children: true,
      spending_limit: { limit_usd: "2.00", period: "total" },
    },
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
