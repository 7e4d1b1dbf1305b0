import type { Surface } from "../../src/domain/model.ts";
import type { Usage } from "../../src/domain/usage.ts";
import { NO_USAGE } from "../../src/domain/usage.ts";
import { WIRES } from "../../src/wire/registry.ts";
import { printSse } from "../../src/wire/sse.ts";
import { codecSessionOf, eventsOf, requestOf } from "./play.ts";

/** A format in which text is answered. */
export type Format = Exclude<Surface, "embeddings">;

const FORMATS: readonly Format[] = ["chat", "messages", "responses"];

export const usageOf = (classes: Partial<Usage>): Usage => ({ ...NO_USAGE, ...classes });

/** What the gateway bills for an answer of an upstream, by the format of the client: verbatim and translated. */
export function billedOf(upstream: Format, text: string, stream: boolean): Record<string, Usage | undefined> {
  const billed = FORMATS.filter((client) => hasWay(client, upstream)).map((client) => {
    const { usage } = relay({ upstream, client, text, stream });
    return [client, usage];
  });
  return Object.fromEntries(billed);
}

/** The same usage for every client that can reach the upstream. */
export function forEach(upstream: Format, usage: Usage): Record<string, Usage> {
  return Object.fromEntries(
    FORMATS.filter((client) => hasWay(client, upstream)).map((each) => [each, usage]),
  );
}

interface Relayed {
  readonly upstream: Format;
  readonly client: Format;
  readonly text: string;
  readonly stream: boolean;
}

/** Puts an answer of an upstream through to a client. */
export function relay({ upstream, client, text, stream }: Relayed) {
  const members = { input: "hi", stream, stream_options: { include_usage: true } };
  const dialogue = codecSessionOf(WIRES[client], upstream, requestOf(WIRES[client], members));
  const head = { id: "a1", createdAtS: 1, inputTokens: 5 };
  if (!stream) {
    const { text: body, usage } = dialogue.readWhole(head, text);
    return { text: body, usage };
  }
  const reader = dialogue.readStream(head);
  const parts = eventsOf(text).map((event) => reader.read(event));
  const usage = parts.findLast((part) => part.usage !== undefined)?.usage;
  return { text: parts.map((part) => part.text).join("") + reader.ending(), usage };
}

/** Frames the JSON lines of a stream as their provider does. */
export function frameLines(upstream: Format, lines: readonly string[]): string {
  if (upstream === "chat") return `${lines.map((data) => printSse({ data })).join("")}data: [DONE]\n\n`;
  return lines.map((data) => printSse({ event: JSON.parse(data).type, data })).join("");
}

/** Responses reach upstreams of their own format alone. */
function hasWay(client: Format, upstream: Format): boolean {
  return upstream !== "responses" || client === "responses";
}
