/** One server-sent event of the playground's stream. */
export interface PlaygroundEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Collects chunks of a stream and returns the events that are complete. */
export function createEventReader(): (chunk: string) => readonly PlaygroundEvent[] {
  let rest = "";
  return (chunk) => {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => {
      const event = readBlock(block);
      return event ? [event] : [];
    });
  };
}

/** Comments, which keep the connection open, are no events. */
function readBlock(block: string): PlaygroundEvent | undefined {
  const lines = block.split("\n");
  const name = lines.find((line) => line.startsWith("event: "))?.slice("event: ".length);
  const data = lines.find((line) => line.startsWith("data: "))?.slice("data: ".length);
  if (name === undefined || data === undefined) return undefined;
  const parsed: unknown = JSON.parse(data);
  // Safe because the route sends an object with each event.
  return { name, data: parsed as PlaygroundEvent["data"] };
}

export interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** A conversation with one model, and the money of its latest request. */
export interface Chat {
  readonly messages: readonly Message[];
  readonly reasoning: string;
  readonly isRunning: boolean;
  readonly requestId: string | undefined;
  /** Decimal USD; `undefined` until known. */
  readonly granted: string | undefined;
  readonly spent: string | undefined;
  readonly outputTokens: number;
  readonly isSettled: boolean;
  readonly problem: string | undefined;
  readonly events: readonly PlaygroundEvent[];
}

export const NEW_CHAT: Chat = {
  messages: [],
  reasoning: "",
  isRunning: false,
  requestId: undefined,
  granted: undefined,
  spent: undefined,
  outputTokens: 0,
  isSettled: false,
  problem: undefined,
  events: [],
};

const EVENTS_MAX = 500;

/** Begins the answer to a prompt. */
export function ask(chat: Chat, prompt: string): Chat {
  const messages = [...chat.messages, { role: "user", content: prompt } as const];
  return { ...NEW_CHAT, messages, isRunning: true };
}

/** Applies one event of the stream. */
export function applyEvent(chat: Chat, event: PlaygroundEvent): Chat {
  const { name, data } = event;
  const events = [...chat.events, event].slice(-EVENTS_MAX);
  const next = { ...chat, events };
  if (name === "start") {
    return { ...next, requestId: textOf(data.request_id), granted: textOf(data.granted_usd) };
  }
  if (name === "delta") return { ...next, messages: append(chat.messages, textOf(data.text) ?? "") };
  if (name === "reasoning") return { ...next, reasoning: chat.reasoning + (textOf(data.text) ?? "") };
  if (name === "cost") {
    return { ...next, spent: textOf(data.spent_usd), outputTokens: Number(data.output_tokens ?? 0) };
  }
  if (name === "error") return { ...next, problem: messageOf(data.error), isRunning: false, isSettled: true };
  return name === "end" ? { ...next, isRunning: false, isSettled: true } : next;
}

function append(messages: readonly Message[], text: string): readonly Message[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return [...messages, { role: "assistant", content: text }];
  return [...messages.slice(0, -1), { role: "assistant", content: last.content + text }];
}

function messageOf(error: unknown): string {
  const message =
    typeof error === "object" && error !== null && "message" in error ? error.message : undefined;
  return textOf(message) ?? "The answer failed.";
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
