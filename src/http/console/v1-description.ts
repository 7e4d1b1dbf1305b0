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
  /** Required members of the body, with a value for each. */
  readonly example?: Json;
  readonly isStreamed?: boolean;
}

type ErrorSurface = "chat" | "messages" | "responses";
type Surface = ErrorSurface | "open";

const HELLO = [{ role: "user", content: "Hello" }];
const ROUTES: readonly V1Route[] = [
  {
    method: "post",
    path: "/v1/chat/completions",
    summary: "Create a chat completion",
    text: "The chat surface of OpenAI. Unknown fields are forwarded to an upstream of the same format.",
    surface: "chat",
    example: { model: "demo", messages: HELLO, max_tokens: 256 },
    isStreamed: true,
  },
  {
    method: "post",
    path: "/v1/messages",
    summary: "Create a message",
    text: "The messages surface of Anthropic, with its own envelope of errors.",
    surface: "messages",
    example: { model: "demo", messages: HELLO, max_tokens: 256 },
    isStreamed: true,
  },
  {
    method: "post",
    path: "/v1/messages/count_tokens",
    summary: "Count the tokens of a message",
    text: "Counted here; nothing is charged.",
    surface: "messages",
    example: { model: "demo", messages: HELLO },
  },
  {
    method: "post",
    path: "/v1/responses",
    summary: "Create a response",
    text: "The responses surface of OpenAI. Nothing is stored: `store` must be false or absent.",
    surface: "responses",
    example: { model: "demo", input: "Hello", store: false },
    isStreamed: true,
  },
  {
    method: "post",
    path: "/v1/embeddings",
    summary: "Create embeddings",
    text: "The embeddings surface of OpenAI.",
    surface: "chat",
    example: { model: "demo", input: "Hello" },
  },
  {
    method: "get",
    path: "/v1/models",
    summary: "List the models",
    text: "Models that the key may use.",
    surface: "chat",
  },
  {
    method: "get",
    path: "/v1/models/{id}",
    summary: "Read one model",
    text: "404 also for a model that the key may not use.",
    surface: "chat",
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
    text: "503 while draining, and while a dependency does not answer.",
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

function describeRoute({ summary, text, surface, path, example, isStreamed }: V1Route): Json {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const ok = { description: "The answer", ...answerContent(isStreamed ?? false) };
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
  const schema = { type: "object", required: Object.keys(example).slice(0, 2), additionalProperties: true };
  return { required: true, content: { "application/json": { schema, example } } };
}

function answerContent(isStreamed: boolean): Json {
  const json = { "application/json": { schema: { type: "object" } } };
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
