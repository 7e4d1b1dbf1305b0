import { type Script, type Step, silence } from "../../support/script.ts";
import { EVENT_STREAM } from "../../support/scripted-answers.ts";
import type { Charged, Scene } from "./fault.ts";
import { BREAK, BROKEN_TEXT, streams, until } from "./speak.ts";

/** A moment at which the client goes away. */
export interface HangUp extends Scene {
  /** The upstream's status on the receipt. */
  readonly status: number;
  /** What the client has read by then, of a stream that has opened. */
  readonly hasRead?: string;
  readonly charge: Record<"chat" | "messages", Charged>;
}

/** More than the buffers of two sockets: when it is sent, the gateway is reading. */
const PADDING_BYTES = 16 * 1024 * 1024;

/** Calls, by model, of which the gateway has begun to read the answer. */
export const reading = new Set<string | undefined>();

/** The prompt, which the upstream has: its text is three tokens. */
const INPUT = { source: "estimated", input: 3, output: 0 } as const;

/** When clients hang up, and what they pay then. */
export const HANG_UPS: readonly HangUp[] = [
  { name: "before an answer", scripts: [silence], status: 0, charge: { chat: INPUT, messages: INPUT } },
  {
    name: "within a whole answer",
    modes: ["whole"],
    scripts: [fallsSilentBehind(() => "{", " ")],
    status: 200,
    charge: { chat: INPUT, messages: INPUT },
  },
  {
    name: "before the first event",
    modes: ["stream"],
    scripts: [fallsSilentBehind(() => "", ":")],
    status: 200,
    charge: { chat: INPUT, messages: INPUT },
  },
  {
    name: "before the first output",
    modes: ["stream"],
    scripts: [fallsSilentBehind(until(undefined), ":")],
    status: 200,
    // Anthropic has said by then what the prompt came to.
    charge: { chat: INPUT, messages: { source: "estimated", input: 11, output: 1 } },
  },
  {
    name: "in the middle of a stream",
    modes: ["stream"],
    scripts: [streams(until(BREAK), { end: "hang" })],
    status: 200,
    hasRead: BROKEN_TEXT,
    charge: {
      chat: { source: "estimated", input: 3, output: 3 },
      messages: { source: "estimated", input: 11, output: 3 },
    },
  },
];

/** Begins an answer, goes on for long with what means nothing, and says no more. */
function fallsSilentBehind(begin: ReturnType<typeof until>, filler: string): Script {
  return function* (request): Generator<Step> {
    const type = request.stream ? EVENT_STREAM["content-type"] : "application/json";
    yield { send: `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n${begin(request)}` };
    for (let sent = 0; sent < PADDING_BYTES; sent += 65_536) yield { send: `${filler.repeat(65_535)}\n` };
    reading.add(request.model);
    yield { leave: "hang" };
  };
}
