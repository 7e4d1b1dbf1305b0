import type { SseEvent } from "../../src/wire/sse.ts";
import { createSseDecoder } from "../../src/wire/sse.ts";
import type { TestGateway } from "./test-gateway.ts";

/** How a request differs from the default one. */
export interface RequestOptions {
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Sent in place of the JSON body. */
  readonly raw?: BodyInit;
}

/** One client API of the gateway. Tests run on several; the default is chat completions and messages. */
export interface Surface<Name extends string = "chat" | "messages"> {
  readonly name: Name;
  readonly path: string;
  /** The model that the scripted upstream answers on this surface. */
  readonly model: string;
  /** The JSON body of the default request. It has no output limit where the API allows that. */
  body(more?: object): Record<string, unknown>;
}

/** The chat completions API. */
export const CHAT: Surface = {
  name: "chat",
  path: "/v1/chat/completions",
  model: "chat",
  body: (more) => ({ model: "chat", messages: [{ role: "user", content: "Say hello." }], ...more }),
};

/** The messages API. */
export const MESSAGES: Surface = {
  name: "messages",
  path: "/v1/messages",
  model: "claude",
  body: (more) => ({ model: "claude", messages: [{ role: "user", content: "Say hello." }], ...more }),
};

/** The responses API. */
export const RESPONSES: Surface<"responses"> = {
  name: "responses",
  path: "/v1/responses",
  model: "chat",
  body: (more) => ({ model: "chat", input: "Say hello.", ...more }),
};

/** The surfaces that have an upstream of their own format in the default catalog. */
export const SURFACES = [CHAT, MESSAGES] as const;

/** Sends the default request of a surface with some members of its body changed. */
export function post(
  gateway: TestGateway,
  surface: Surface<string>,
  { secret = gateway.secret, headers, signal, raw, ...body }: RequestOptions & Record<string, unknown> = {},
): Promise<Response> {
  return fetch(`${gateway.url}${surface.path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", ...headers },
    body: raw ?? JSON.stringify(surface.body(body)),
    signal: signal ?? null,
  });
}

/** Returns the JSON body as an object. Throws when it is not an object. */
export async function objectOf(response: Response): Promise<Record<string, unknown>> {
  const value: unknown = await response.json();
  if (typeof value !== "object" || value === null) throw new Error("The body is not an object");
  return { ...value };
}

/** Yields the events of a streamed answer in order, as they arrive. */
async function* eventsOf(response: Response): AsyncGenerator<SseEvent> {
  const decoder = createSseDecoder();
  if (!response.body) return;
  for await (const chunk of response.body) yield* decoder.push(chunk);
  yield* decoder.end();
}

/** Returns the JSON data of every event, without the end marker. */
export async function dataOf(response: Response): Promise<Record<string, unknown>[]> {
  const data: Record<string, unknown>[] = [];
  for await (const event of eventsOf(response)) {
    if (event.data !== "[DONE]") data.push(JSON.parse(event.data));
  }
  return data;
}

/** Reads the rate-limit headers of one window. `reset` keeps the format of the surface. */
export function windowOf({ headers }: Response, surface: Surface, what: "requests" | "tokens") {
  const name = (part: string) =>
    surface.name === "chat" ? `x-ratelimit-${part}-${what}` : `anthropic-ratelimit-${what}-${part}`;
  const read = (part: string) => headers.get(name(part));
  return { limit: Number(read("limit")), remaining: Number(read("remaining")), reset: read("reset") ?? "" };
}

/**
 * Tokens that the default request reserves: half its bytes as input, and the default output limit of 1,000.
 */
export function quotedTokens(surface: Surface, more?: object): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(surface.body(more))) / 2) + 1_000;
}
