import type { ChatEvent, ChatReply, FinishEvent, OutputEvent, UsageEvent } from "../domain/chat-event.ts";
import type { EventPrinter, EventReader } from "./codecs.ts";
import { collectReply } from "./collect-reply.ts";
import { type ReplyPart, type ReplyReader, UpstreamFault } from "./protocol.ts";

/** Gives a tool the name that the client has for it. */
type Restore = (name: string) => string;

/** A streamed answer of one format as the client of another shall see it. The finish is kept back for the ending. */
export function translateStream(reader: EventReader, printer: EventPrinter, restore: Restore): ReplyReader {
  const mend = createMender(restore);
  let finish: FinishEvent | undefined;
  let usage: UsageEvent | undefined;

  return {
    get finished() {
      return reader.finished;
    },
    get done() {
      return reader.done;
    },
    read(event) {
      const tally = createTally();
      let text = "";
      for (const said of reader.read(event)) {
        const mended = mend(said);
        tally.add(mended);
        if (mended.kind === "finish") finish ??= mended;
        else if (mended.kind === "usage") usage = mended;
        else if (mended.kind !== "began") text += printer.print(mended);
      }
      return tally.part(text);
    },
    ending() {
      if (!finish) throw new Error("There is no ending before the finish");
      return printer.end(finish, usage);
    },
  };
}

/** The same for a whole answer. Throws {@link UpstreamFault} for one that never finished. */
export function translateWhole(
  events: readonly ChatEvent[],
  print: (reply: ChatReply) => string,
  restore: Restore,
): ReplyPart {
  const mended = events.map(createMender(restore));
  const tally = createTally();
  for (const event of mended) tally.add(event);
  const reply = collectReply(mended);
  try {
    return { ...tally.part(print(reply)), isOutput: true };
  } catch (fault) {
    if (!(fault instanceof UpstreamFault)) throw fault;
    return { ...tally.part(""), isOutput: true, unsayable: fault };
  }
}

/** Gives tools their names back, and says of a finish whether tools were called: hosts are not always of one mind. */
function createMender(restore: Restore): (event: ChatEvent) => ChatEvent {
  let hasCalls = false;
  return (event) => {
    if (event.kind === "tool_call") {
      hasCalls = true;
      return { ...event, name: restore(event.name) };
    }
    if (event.kind !== "finish") return event;
    if (event.reason === "stop" && hasCalls) return { ...event, reason: "tool_calls" };
    return event.reason === "tool_calls" && !hasCalls ? { ...event, reason: "stop" } : event;
  };
}

/** What events mean to the gateway, put together to a part. */
function createTally() {
  let generated = "";
  let isReadable = false;
  let isOutput = false;
  let usage: ReplyPart["usage"];
  return {
    add(event: ChatEvent): void {
      if (event.kind === "usage") usage = event.usage;
      else if (event.kind === "finish") isReadable ||= event.reason === "content_filter";
      else if (event.kind === "began") isOutput = true;
      else {
        isOutput = true;
        const words = wordsOf(event);
        generated += words;
        isReadable ||= event.kind === "tool_call" || (words !== "" && event.kind !== "reasoning");
      }
    },
    part: (text: string): ReplyPart => ({
      text,
      generated,
      isReadable,
      usage,
      isOutput: isOutput || isReadable,
    }),
  };
}

/** What a model wrote in one step. What only its provider can read is not counted. */
function wordsOf(event: OutputEvent): string {
  switch (event.kind) {
    case "tool_call":
      return event.name;
    case "tool_input":
      return event.json;
    case "reasoning_seal":
    case "redacted_reasoning":
      return "";
    default:
      return event.text;
  }
}
