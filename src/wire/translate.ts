import type {
  ChatEvent,
  ChatReply,
  FinishEvent,
  OutputEvent,
  ReplyBlock,
  ToolCallEvent,
  UsageEvent,
} from "../domain/chat-event.ts";
import type { EventPrinter, EventReader } from "./format.ts";
import type { ReplyPart, ReplyReader } from "./reply-part.ts";
import { UpstreamFault } from "./upstream-fault.ts";

/** Returns the client's name of a tool whose name was shortened for the upstream. */
type RestoreName = (name: string) => string;

/** Translates a streamed answer into the client's format. Holds back the finish until `ending()`. */
export function translateStream(
  reader: EventReader,
  printer: EventPrinter,
  restoreName: RestoreName,
): ReplyReader {
  const normalise = createNormaliser(restoreName);
  let finish: FinishEvent | undefined;
  let usage: UsageEvent | undefined;

  return {
    get finished() {
      return reader.finished;
    },
    get done() {
      return reader.done;
    },
    read(sseEvent) {
      const tally = createTally();
      let text = "";
      const events = reader.read(sseEvent);
      // A report may follow output in one event; a format that begins with the usage takes it from there.
      for (const event of events) if (event.kind === "usage") usage = event;
      for (const read of events) {
        const event = normalise(read);
        tally.add(event);
        if (event.kind === "finish") finish ??= event;
        else if (isOutput(event)) text += printer.print(event, usage);
      }
      return tally.part(text);
    },
    ending() {
      if (!finish) throw new Error("There is no ending before the finish");
      return printer.end(finish, usage);
    },
  };
}

/**
 * Translates a whole answer. Throws {@link UpstreamFault} if it never finished. If `print` throws one, the
 * part reports it as `unrepresentable` and keeps the usage.
 */
export function translateWhole(
  events: readonly ChatEvent[],
  print: (reply: ChatReply) => string,
  restoreName: RestoreName,
): ReplyPart {
  const normalised = events.map(createNormaliser(restoreName));
  const tally = createTally();
  for (const event of normalised) tally.add(event);
  const reply = collectReply(normalised);
  try {
    return { ...tally.part(print(reply)), isOutput: true };
  } catch (fault) {
    if (!(fault instanceof UpstreamFault)) throw fault;
    return { ...tally.part(""), isOutput: true, unrepresentable: fault };
  }
}

/** Joins the events of a whole answer into blocks. Throws {@link UpstreamFault} if it never finished. */
export function collectReply(events: readonly ChatEvent[]): ChatReply {
  const collected = createBlocks();
  let finish: FinishEvent | undefined;
  let usage: UsageEvent | undefined;
  for (const event of events) {
    if (event.kind === "finish") finish = event;
    else if (event.kind === "usage") usage = event;
    else if (isOutput(event)) collected.add(event);
  }
  if (!finish) throw new UpstreamFault("The answer has no finish");
  return { blocks: collected.blocks, finish, usage };
}

/**
 * Restores tool names, and makes the finish reason agree with the calls: hosts send `stop` after tool calls
 * and `tool_calls` without any.
 */
function createNormaliser(restoreName: RestoreName): (event: ChatEvent) => ChatEvent {
  let hasCalls = false;
  return (event) => {
    if (event.kind === "tool_call") {
      hasCalls = true;
      return { ...event, name: restoreName(event.name) };
    }
    if (event.kind !== "finish") return event;
    if (event.reason === "stop" && hasCalls) return { ...event, reason: "tool_calls" };
    return event.reason === "tool_calls" && !hasCalls ? { ...event, reason: "stop" } : event;
  };
}

function isOutput(event: ChatEvent): event is OutputEvent {
  const { kind } = event;
  return kind !== "began" && kind !== "usage" && kind !== "tier" && kind !== "finish";
}

/** Sums up what the gateway meters of several events. */
function createTally() {
  let generated = "";
  let isReadable = false;
  let hasOutput = false;
  let usage: ReplyPart["usage"];
  let tier: ReplyPart["tier"];
  return {
    add(event: ChatEvent): void {
      if (event.kind === "usage") usage = event.usage;
      else if (event.kind === "tier") tier = event.tier;
      else if (event.kind === "finish") isReadable ||= event.reason === "content_filter";
      else if (event.kind === "began") hasOutput = true;
      else {
        hasOutput = true;
        const text = generatedTextOf(event);
        generated += text;
        isReadable ||= event.kind === "tool_call" || (text !== "" && event.kind !== "reasoning");
      }
    },
    part: (text: string): ReplyPart => ({
      text,
      generated,
      isReadable,
      usage,
      isOutput: hasOutput || isReadable,
      ...(tier && { tier }),
    }),
  };
}

/**
 * Returns the generated text of an event; "" for signatures and encrypted reasoning, which are not counted.
 */
function generatedTextOf(event: OutputEvent): string {
  switch (event.kind) {
    case "tool_call":
      return event.name;
    case "tool_input":
      return event.json;
    case "reasoning_signature":
    case "redacted_reasoning":
      return "";
    default:
      return event.text;
  }
}

type Growing<Block> = Block extends unknown ? { -readonly [Key in keyof Block]: Block[Key] } : never;
type CallBlock = Growing<Extract<ReplyBlock, { kind: "tool_call" }>>;

function createBlocks() {
  const blocks: Growing<ReplyBlock>[] = [];
  const calls: CallBlock[] = [];

  const addText = (kind: "text" | "refusal", text: string): void => {
    const last = blocks.at(-1);
    if (last?.kind === kind) last.text += text;
    else if (text !== "") blocks.push({ kind, text });
  };

  /** A signature completes a block of reasoning: later reasoning starts another block. */
  const addReasoning = (text: string, signature?: string): void => {
    const last = blocks.at(-1);
    if (last?.kind === "reasoning" && last.signature === undefined) {
      last.text += text;
      last.signature = signature;
    } else blocks.push({ kind: "reasoning", text, signature });
  };

  const beginCall = ({ call, id, name }: ToolCallEvent): void => {
    const block: CallBlock = { kind: "tool_call", id, name, input: "" };
    calls[call] = block;
    blocks.push(block);
  };

  const add = (event: OutputEvent): void => {
    if (event.kind === "text" || event.kind === "refusal") addText(event.kind, event.text);
    else if (event.kind === "reasoning") addReasoning(event.text);
    else if (event.kind === "reasoning_signature") addReasoning("", event.signature);
    else if (event.kind === "redacted_reasoning") blocks.push({ kind: event.kind, data: event.data });
    else if (event.kind === "tool_call") beginCall(event);
    else {
      const call = calls[event.call];
      if (call) call.input += event.json;
    }
  };

  return { blocks: blocks as readonly ReplyBlock[], add };
}
