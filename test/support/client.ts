import type { SseEvent } from "../../src/wire/protocol.ts";
import { createSseDecoder } from "../../src/wire/sse.ts";
import type { TestGateway } from "./test-gateway.ts";

/** How a request differs from the ordinary one. */
export interface RequestOptions {
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Sent instead of the JSON of the body. */
  readonly raw?: BodyInit;
}

/** One surface of the gateway, as seen by a test that runs on several: on both of them when it does not say. */
export interface Surface<Name extends string = "chat" | "messages"> {
  readonly name: Name;
  readonly path: string;
  /** The model that the scripted upstream answers on this surface. */
  readonly model: string;
  /** The body of an ordinary request, without an output limit of its own where the surface lets it. */
  body(more?: object): Record<string, unknown>;
}

export const CHAT: Surface = {
  name: "chat",
  path: "/v1/chat/completions",
  model: "chat",
  body: (more) => ({ model: "chat", messages: [{ role: "user", content: "Say hello." }], ...more }),
};

export const MESSAGES: Surface = {
  name: "messages",
  path: "/v1/messages",
  model: "claude",
  body: (more) => ({ model: "claude", messages: [{ role: "user", content: "Say hello." }], ...more }),
};

export const RESPONSES: Surface<"responses"> = {
  name: "responses",
  path: "/v1/responses",
  model: "chat",
  body: (more) => ({ model: "chat", input: "Say hello.", ...more }),
};

/** Those that an upstream of their own answers without a translation. */
export const SURFACES = [CHAT, MESSAGES] as const;

/** Sends an ordinary request of a surface, with some members of its body changed. */
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

/** The body as an object; throws when it is something else. */
export async function objectOf(response: Response): Promise<Record<string, unknown>> {
  const value: unknown = await response.json();
  if (typeof value !== "object" || value === null) throw new Error("The body is not an object");
  return { ...value };
}

/** Every event of a streamed answer, in order, read as it comes. */
async function* eventsOf(response: Response): AsyncGenerator<SseEvent> {
  const decoder = createSseDecoder();
  if (!response.body) return;
  for await (const chunk of response.body) yield* decoder.push(chunk);
  yield* decoder.end();
}

/** The data of every event as JSON, without the end marker. */
export async function dataOf(response: Response): Promise<Record<string, unknown>[]> {
  const data: Record<string, unknown>[] = [];
  for await (const event of eventsOf(response)) {
    if (event.data !== "[DONE]") data.push(JSON.parse(event.data));
  }
  return data;
}

/** What a response says of a window, whichever surface it is on; `reset` in the surface's own form. */
export function windowOf({ headers }: Response, surface: Surface, what: "requests" | "tokens") {
  const name = (part: string) =>
    surface.name === "chat" ? `x-ratelimit-${part}-${what}` : `anthropic-ratelimit-${what}-${part}`;
  const read = (part: string) => headers.get(name(part));
  return { limit: Number(read("limit")), remaining: Number(read("remaining")), reset: read("reset") ?? "" };
}

/** Input bound and default ceiling of an ordinary request, with `more` in its body. */
export function quotedTokens(surface: Surface, more?: object): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(surface.body(more))) / 2) + 1_000;
}
