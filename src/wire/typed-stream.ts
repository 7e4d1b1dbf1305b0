import { EVENT_MAX, type JsonObject, parseJsonObject, readText } from "./json/read.ts";
import { NO_CONTENT, type ReplyPart, type ReplyReader, SILENT } from "./reply-part.ts";
import { printSse, type SseEvent } from "./sse.ts";
import { UpstreamFault } from "./upstream-fault.ts";

/** The events of a stream whose events have a `type`, and that ends with one of them. */
export interface TypedStream {
  /** The type of the last event, which is held back until the settlement. */
  readonly finish: string;
  /** Returns the text that an event generated; `undefined` for an event without output. */
  readOutput(event: JsonObject): string | undefined;
  /** Reads usage and units of the last event. */
  readUsage(event: JsonObject): Pick<ReplyPart, "usage" | "units">;
}

/**
 * Reads a stream of typed events, whose data passes through byte for byte. The reader throws
 * {@link UpstreamFault} for an error event and for data that is not JSON.
 */
export function readTypedStream({ finish, readOutput, readUsage }: TypedStream): ReplyReader {
  let ending: string | undefined;

  function read(sent: SseEvent): ReplyPart {
    if (ending !== undefined) return SILENT;
    const event = parseEvent(sent);
    const output = readOutput(event);
    const isOutput = output !== undefined;
    const content = isOutput ? { generated: output, isReadable: true } : NO_CONTENT;
    const text = printSse(sent);
    if (event.type !== finish) return { ...content, text, isOutput, usage: undefined };
    ending = text;
    return { ...content, text: "", isOutput, ...readUsage(event) };
  }

  return {
    read,
    get finished() {
      return ending !== undefined;
    },
    get done() {
      return ending !== undefined;
    },
    ending() {
      if (ending === undefined) throw new Error("There is no ending before the finish");
      return ending;
    },
  };
}

function parseEvent({ event, data }: SseEvent): JsonObject {
  const parsed = parseJsonObject(data, EVENT_MAX);
  if (!parsed) throw new UpstreamFault("An event is not JSON");
  const isError = event === "error" || readText(parsed.type) === "error" || Boolean(parsed.error);
  if (isError) throw new UpstreamFault("The upstream reported an error");
  return parsed;
}
