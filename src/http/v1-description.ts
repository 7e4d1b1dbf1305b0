// OpenAPI of the routes of /v1, beside that of the console.
import { ERRORS, type ErrorRow } from "../errors.ts";
import { GEMINI_ROUTES } from "./gemini-description.ts";
import { type ErrorSurface, type Json, V1_ROUTES, type V1Route } from "./v1-routes.ts";

const ERROR_CODES: readonly string[] = [...new Set(rows().map(({ code }) => code))];

/** Describes `/v1` and the health checks as paths of OpenAPI. */
export function describeV1(): Record<string, Record<string, Json>> {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of [...V1_ROUTES, ...GEMINI_ROUTES]) {
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
    responses: Object.assign({}, ...SURFACES.map(describeErrors)),
    schemas: {
      Error: envelope({ message: { type: "string" }, type: { type: "string" }, code: codes() }),
      GeminiError: envelope({
        code: { type: "integer" },
        message: { type: "string" },
        status: { type: "string" },
        details: {
          type: "array",
          items: { type: "object", properties: { "@type": { type: "string" }, reason: codes() } },
        },
      }),
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
      key: {
        type: "http",
        scheme: "bearer",
        description: "An API key, sk-tg-…; also taken as x-api-key and x-goog-api-key",
      },
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

const SURFACES: readonly ErrorSurface[] = ["chat", "messages", "responses", "gemini"];
/** The schema of errors of each surface. */
const ENVELOPES: Readonly<Record<ErrorSurface, string>> = {
  chat: "Error",
  messages: "MessagesError",
  responses: "Error",
  gemini: "GeminiError",
};

/** The codes that each status of a surface may stand for. */
function describeErrors(surface: ErrorSurface): Record<string, Json> {
  const schema = { $ref: `#/components/schemas/${ENVELOPES[surface]}` };
  return Object.fromEntries(
    [...codesByStatus(surface)].map(([status, names]) => [
      `${surface}_${status}`,
      { description: names.join(", "), content: { "application/json": { schema } } },
    ]),
  );
}

function codesByStatus(surface: ErrorSurface): ReadonlyMap<number, readonly string[]> {
  // Gemini's form has the statuses of messages.
  const column = surface === "gemini" ? "messages" : surface;
  const byStatus = Map.groupBy(rows(), (row) => row[column][0]);
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
