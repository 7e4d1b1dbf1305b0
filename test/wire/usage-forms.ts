import type { ChatSurface } from "../../src/domain/model.ts";
import type { Usage } from "../../src/domain/usage.ts";
import { NO_USAGE } from "../../src/domain/usage.ts";
import { WIRES } from "../../src/wire/registry.ts";
import { printSse } from "../../src/wire/sse.ts";
import { codecSessionOf, eventsOf, requestOf } from "./play.ts";

/** A format whose answers contain text. */
export type Format = ChatSurface;

const FORMATS: readonly Format[] = ["chat", "messages", "responses"];

export const usageOf = (classes: Partial<Usage>): Usage => ({ ...NO_USAGE, ...classes });

/** Returns the billed usage of an upstream's answer by the client's format: passthrough and translated. */
export function billedOf(upstream: Format, text: string, stream: boolean): Record<string, Usage | undefined> {
  const billed = FORMATS.filter((client) => hasPair(client, upstream)).map((client) => {
    const { usage } = relay({ upstream, client, text, stream });
    return [client, usage];
  });
  return Object.fromEntries(billed);
}

/** Returns one usage for every client format that can reach the upstream. */
export function forEachClient(upstream: Format, usage: Usage): Record<string, Usage> {
  return Object.fromEntries(
    FORMATS.filter((client) => hasPair(client, upstream)).map((each) => [each, usage]),
  );
}

interface Relayed {
  readonly upstream: Format;
  readonly client: Format;
  readonly text: string;
  readonly stream: boolean;
}

/** Relays an answer of an upstream to a client. */
export function relay({ upstream, client, text, stream }: Relayed) {
  const members = { input: "hi", stream, stream_options: { include_usage: true } };
  const session = codecSessionOf(WIRES[client], upstream, requestOf(WIRES[client], members));
  const head = { id: "a1", createdAtS: 1, inputTokens: 5 };
  if (!stream) {
    const { text: body, usage } = session.readWhole(head, text);
    return { text: body, usage };
  }
  const reader = session.readStream(head);
  const parts = eventsOf(text).map((event) => reader.read(event));
  const usage = parts.findLast((part) => part.usage !== undefined)?.usage;
  return { text: parts.map((part) => part.text).join("") + reader.ending(), usage };
}

/** Prints the JSON lines of a stream as events of their provider. */
export function frameLines(upstream: Format, lines: readonly string[]): string {
  if (upstream === "chat") return `${lines.map((data) => printSse({ data })).join("")}data: [DONE]\n\n`;
  return lines.map((data) => printSse({ event: JSON.parse(data).type, data })).join("");
}

/** Upstreams of responses are reachable only for clients of responses. */
function hasPair(client: Format, upstream: Format): boolean {
  return upstream !== "responses" || client === "responses";
}
