import { drawInteger, drawOne, drawWeighted, type RandomSource } from "../../support/seeded-random.ts";
import { textAt } from "../../support/strict-json.ts";
import type { UpstreamFormat } from "./fuzz-answer.ts";
import { deepen } from "./hostile-values.ts";
import { mutateJson, type Snippets } from "./mutate-json.ts";

interface Mutation {
  readonly weight: number;
  mutate(draw: RandomSource, events: unknown[], snippets: Snippets): void;
}

/** Changes one event of a stream, or the number or order of the events. */
export function mutateStream(draw: RandomSource, events: unknown[], snippets: Snippets): void {
  if (events.length > 0) drawWeighted(draw, EVENT_MUTATIONS).mutate(draw, events, snippets);
}

const REPEATS_MAX = 200;

const EVENT_MUTATIONS: readonly Mutation[] = [
  {
    weight: 14,
    mutate(draw, events, snippets) {
      const at = drawAt(draw, events);
      events[at] = mutateJson(draw, events[at], snippets);
    },
  },
  { weight: 3, mutate: (draw, events) => void events.splice(drawAt(draw, events), 1) },
  { weight: 3, mutate: (draw, events) => repeat(draw, events, 1) },
  { weight: 0.5, mutate: (draw, events) => repeat(draw, events, drawInteger(draw, 2, REPEATS_MAX)) },
  {
    weight: 3,
    mutate(draw, events) {
      const [moved] = events.splice(drawAt(draw, events), 1);
      events.splice(drawInteger(draw, 0, events.length), 0, moved);
    },
  },
  {
    weight: 2,
    mutate(draw, events) {
      const at = drawAt(draw, events);
      const [one, other] = [events[at], events[drawAt(draw, events)]];
      if (isRecord(one) && isRecord(other)) events[at] = { ...one, ...structuredClone(other) };
    },
  },
  {
    weight: 2,
    mutate: (draw, events, snippets) =>
      void events.splice(drawInteger(draw, 0, events.length), 0, structuredClone(drawOne(draw, snippets))),
  },
  { weight: 1, mutate: (draw, events) => void events.splice(drawAt(draw, events), 0, { type: "ping" }) },
  { weight: 1, mutate: (draw, events) => void events.splice(drawAt(draw, events)) },
];

function drawAt(draw: RandomSource, events: readonly unknown[]): number {
  return drawInteger(draw, 0, Math.max(0, events.length - 1));
}

function repeat(draw: RandomSource, events: unknown[], times: number): void {
  const at = drawAt(draw, events);
  const copies = Array.from({ length: times }, () => structuredClone(events[at]));
  events.splice(at, 0, ...copies);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Occurs in the error texts of upstreams. No client may see it. */
export const CANARY = "CANARY";

/** Encodes events in the framing of a format, with its end mark. */
export function frameStream(draw: RandomSource, format: UpstreamFormat, events: readonly unknown[]): string {
  const frames = events.map((event) => frameOf(format, event, deepen(draw, JSON.stringify(event) ?? "")));
  return frames.join("") + (format === "chat" ? "data: [DONE]\n\n" : "");
}

/** Rewrites the framing of a stream, validly or not. */
export function mutateFrames(draw: RandomSource, text: string): string {
  return drawWeighted(draw, FRAME_MUTATIONS).mutate(text, draw);
}

const ERRORS = [
  `data: {"error":{"message":"${CANARY}","type":"server_error","code":500}}\n\n`,
  `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"${CANARY}"}}\n\n`,
  `event: error\ndata: ${CANARY}\n\n`,
  `data: {"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"message":"${CANARY}"}}]}\n\n`,
  `event: response.failed\ndata: {"type":"response.failed","response":{"status":"failed","error":{"message":"${CANARY}"}}}\n\n`,
  `data: {"type":"error","code":"x","message":"${CANARY}"}\n\n`,
];
const JUNK = [
  "data: not json\n\n",
  "data: [DONE]\n\n",
  "data:\n\n",
  "data: null\n\n",
  "data: []\n\n",
  'data: "text"\n\n',
  ": a comment\n\n",
  "id: 7\nretry: 1\n\n",
  "event: banana\ndata: {}\n\n",
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  "nonsense\n",
  "\ufeff",
];

const FRAME_MUTATIONS: readonly {
  readonly weight: number;
  mutate(text: string, draw: RandomSource): string;
}[] = [
  { weight: 1, mutate: (text) => text.replaceAll("\n", "\r\n") },
  { weight: 1, mutate: (text) => text.replaceAll("\n", "\r") },
  { weight: 1, mutate: (text) => text.replaceAll(/^(data|event): /gm, "$1:") },
  { weight: 1, mutate: (text) => text.replaceAll(/^event: .*\n/gm, "") },
  { weight: 1, mutate: (text) => text.replaceAll(/^event: .*$/gm, "event: ping") },
  { weight: 1, mutate: (text) => text.replaceAll("data: ", ": comment\ndata: ") },
  { weight: 1, mutate: (text) => text.replaceAll(',"', ',\ndata: "') },
  { weight: 1, mutate: (text) => text.replaceAll("\n\n", "\n") },
  { weight: 4, mutate: (text, draw) => insertFrame(text, drawOne(draw, ERRORS), draw) },
  { weight: 4, mutate: (text, draw) => insertFrame(text, drawOne(draw, JUNK), draw) },
];

function insertFrame(text: string, frame: string, draw: RandomSource): string {
  const frames = text.split(/(?<=\n\n)/);
  frames.splice(drawInteger(draw, 0, frames.length), 0, frame);
  return frames.join("");
}

function frameOf(format: UpstreamFormat, event: unknown, json: string): string {
  if (format === "chat") return `data: ${json}\n\n`;
  if (format === "gemini") return `data: ${json}\r\n\r\n`;
  const type = typeof event === "object" && event !== null && "type" in event ? event.type : "";
  return `event: ${textAt(type).replaceAll(/\s/g, " ")}\ndata: ${json}\n\n`;
}
