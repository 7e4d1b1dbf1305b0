import type { Nanos } from "../../../domain/money.ts";
import { readUsd } from "../../format.ts";

/** One answer of a model, as far as it has come. */
export interface Answer {
  readonly state: "waiting" | "streaming" | "done" | "failed" | "stopped";
  readonly text: string;
  readonly reasoning: string;
  /** The calls of tools that the model asks for, by their index. */
  readonly calls: readonly ToolCall[];
  readonly requestId: string | undefined;
  /** Held for the request; `undefined` until it is. */
  readonly granted: Nanos | undefined;
  readonly spent: Nanos;
  readonly outputTokens: number;
  /** Whether the charge is final, so that the rest is released. */
  readonly isSettled: boolean;
  readonly error: string | undefined;
  readonly events: readonly ServerEvent[];
}

/** A call of a tool, as far as it has come. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

interface Receipt {
  readonly charged_usd: string;
  readonly output_tokens: number | null;
}

/** What the events carry; each has some of these. */
interface EventData {
  readonly request_id?: string;
  readonly granted_usd?: string;
  readonly text?: string;
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly spent_usd?: string;
  readonly output_tokens?: number;
  readonly error?: { readonly message: string };
  readonly receipt?: Receipt | null;
}

/** Raw events that are kept; more would slow the page. */
const EVENTS_MAX = 500;

export const NEW_ANSWER: Answer = {
  state: "waiting",
  text: "",
  reasoning: "",
  calls: [],
  requestId: undefined,
  granted: undefined,
  spent: 0n,
  outputTokens: 0,
  isSettled: false,
  error: undefined,
  events: [],
};

/** Returns the answer with one more event. */
export function addEvent(answer: Answer, received: ServerEvent): Answer {
  const kept = { ...answer, events: [...answer.events, received].slice(-EVENTS_MAX) };
  // Safe because the route sends JSON of these members.
  const data = JSON.parse(received.data) as EventData;
  switch (received.event) {
    case "start":
      return {
        ...kept,
        state: "streaming",
        requestId: data.request_id,
        granted: readUsd(data.granted_usd ?? "0"),
      };
    case "delta":
      return { ...kept, text: kept.text + (data.text ?? "") };
    case "reasoning":
      return { ...kept, reasoning: kept.reasoning + (data.text ?? "") };
    case "tool_call":
      return { ...kept, calls: addPiece(kept.calls, data) };
    case "cost":
      return {
        ...kept,
        spent: readUsd(data.spent_usd ?? "0"),
        outputTokens: data.output_tokens ?? kept.outputTokens,
      };
    case "end":
      return { ...settle(kept, data.receipt), state: "done" };
    case "error":
      return { ...settle(kept, data.receipt), state: "failed", error: data.error?.message };
    default:
      return kept;
  }
}

/** More calls than this are no answer to look at. */
const CALLS_MAX = 128;

function addPiece(calls: readonly ToolCall[], { index = 0, ...piece }: EventData): readonly ToolCall[] {
  if (index < 0 || index >= CALLS_MAX || index > calls.length) return calls;
  const known = calls[index] ?? { id: "", name: "", arguments: "" };
  const call = {
    id: known.id || (piece.id ?? ""),
    name: known.name || (piece.name ?? ""),
    arguments: known.arguments + (piece.arguments ?? ""),
  };
  return [...calls.slice(0, index), call, ...calls.slice(index + 1)];
}

/** Takes the charge of a receipt. Without one the ledger is away, and the last cost stands. */
export function settle(answer: Answer, receipt: Receipt | null | undefined): Answer {
  if (!receipt) return answer;
  return {
    ...answer,
    spent: readUsd(receipt.charged_usd),
    outputTokens: receipt.output_tokens ?? answer.outputTokens,
    isSettled: true,
  };
}

/** What was held and not spent, once the charge is final. */
export function releasedOf({ granted, spent, isSettled }: Answer): Nanos | undefined {
  if (!isSettled || granted === undefined) return undefined;
  return granted > spent ? granted - spent : 0n;
}

/** One server-sent event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Returns a function that takes the next piece of a stream and returns the events that it completes.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function createEventReader(): (piece: string) => readonly ServerEvent[] {
  let rest = "";
  return (piece) => {
    const blocks = (rest + piece).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => readBlock(block) ?? []);
  };
}

/** Comments, which keep the connection open, are no events. */
function readBlock(block: string): ServerEvent | undefined {
  const lines = block.split("\n");
  const valuesOf = (name: string) =>
    lines.flatMap((line) => (line.startsWith(`${name}:`) ? [line.slice(name.length + 1).trimStart()] : []));
  const data = valuesOf("data");
  if (data.length === 0) return undefined;
  return { event: valuesOf("event").at(-1) ?? "message", data: data.join("\n") };
}
