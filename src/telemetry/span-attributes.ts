import type { Attributes } from "@opentelemetry/api";
import type { TraceFacts } from "./request-trace.ts";

/**
 * The facts that OpenTelemetry has names for; all others become `tollgate.*`.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
 * @see https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 */
const NAMES: Readonly<Record<string, string>> = {
  method: "http.request.method",
  route: "http.route",
  status: "http.response.status_code",
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  model: "gen_ai.request.model",
  responseId: "gen_ai.response.id",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  maxTokens: "gen_ai.request.max_tokens",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cachedInputTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
  serverAddress: "server.address",
  serverPort: "server.port",
  rpcSystem: "rpc.system",
  rpcService: "rpc.service",
  rpcMethod: "rpc.method",
};

/** The longest text of a prompt or an answer on a span, in UTF-16 units. */
const CONTENT_MAX = 16_384;

/** The roles of the texts that spans carry when content is switched on. */
const CONTENT: Readonly<Record<string, readonly [name: string, role: string]>> = {
  prompt: ["gen_ai.input.messages", "user"],
  answer: ["gen_ai.output.messages", "assistant"],
};

/** Returns the attributes of a span. An outcome other than `ok` is also its `error.type`. */
export function attributesOf(facts: TraceFacts): Attributes {
  const attributes: Attributes = {};
  for (const name in facts) {
    const value = facts[name];
    if (value === undefined) continue;
    const content = CONTENT[name];
    if (content) attributes[content[0]] = printMessage(content[1], String(value));
    else attributes[NAMES[name] ?? `tollgate.${snakeCase(name)}`] = Array.isArray(value) ? [...value] : value;
  }
  const { outcome } = facts;
  if (outcome !== undefined && outcome !== "ok") attributes["error.type"] = outcome;
  return attributes;
}

/** One message of the GenAI conventions, its text cut to 16,384 characters. */
function printMessage(role: string, text: string): string {
  return JSON.stringify([{ role, parts: [{ type: "text", content: text.slice(0, CONTENT_MAX) }] }]);
}

const snakeNames = new Map<string, string>();

/** The names of facts are few and fixed, so each is converted once. */
function snakeCase(name: string): string {
  let snake = snakeNames.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakeNames.set(name, snake);
  }
  return snake;
}
