import { type Draw, drawInteger, drawOne, drawWeighted } from "../../storm/draw.ts";
import { textAt } from "../../support/strict-json.ts";
import type { Form } from "./fuzz-answer.ts";
import { deepen } from "./hostile.ts";

/** Stands in what an upstream says of its own failures: no client may ever see it. */
export const CANARY = "CANARY";

/** Frames events as the hosts of a format do, with its end mark. */
export function frameStream(draw: Draw, form: Form, events: readonly unknown[]): string {
  const frames = events.map((event) => frameOf(form, event, deepen(draw, JSON.stringify(event) ?? "")));
  return frames.join("") + (form === "chat" ? "data: [DONE]\n\n" : "");
}

/** Writes a stream in another way, good or bad. */
export function mutateFrames(draw: Draw, text: string): string {
  return drawWeighted(draw, MUTATIONS).mutate(text, draw);
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

const MUTATIONS: readonly { readonly weight: number; mutate(text: string, draw: Draw): string }[] = [
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

function insertFrame(text: string, frame: string, draw: Draw): string {
  const frames = text.split(/(?<=\n\n)/);
  frames.splice(drawInteger(draw, 0, frames.length), 0, frame);
  return frames.join("");
}

function frameOf(form: Form, event: unknown, json: string): string {
  if (form === "chat") return `data: ${json}\n\n`;
  const type = typeof event === "object" && event !== null && "type" in event ? event.type : "";
  return `event: ${textAt(type).replaceAll(/\s/g, " ")}\ndata: ${json}\n\n`;
}
