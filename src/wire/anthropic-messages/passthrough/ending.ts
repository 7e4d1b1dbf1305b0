import { editMembers } from "../../json/edit.ts";
import { isJsonObject, type JsonObject } from "../../json/read.ts";
import { printSse } from "../../sse.ts";

const MESSAGE_STOP = printSse({ event: "message_stop", data: '{"type":"message_stop"}' });

/** Keeps back the end of a streamed message from its stop reason on, which clients get to see once. */
export function createEnding() {
  let reason: string | undefined;
  /** The stop reason of a start without content. Stands only if nothing but the stop follows. */
  let startReason: string | undefined;
  /** A start that has a stop reason, with the pings behind it. */
  let start = "";
  /** The event that says the reason. */
  let finish = "";
  /** What says that nothing comes behind it. */
  let stop = MESSAGE_STOP;

  /** Content follows: the stop reason of the start meant nothing. Returns what was kept back. */
  const release = (): string => {
    const held = start;
    startReason = undefined;
    start = "";
    return held;
  };

  /** The event's text for the client, "" once only the end is awaited: content would come to it after its finish. */
  const pass = (event: string, data: string): string => {
    const frame = printSse({ event, data });
    if (event === "message_stop") {
      reason ??= startReason;
      if (reason === undefined) return frame;
      stop = frame;
    }
    if (reason !== undefined) return "";
    if (startReason === undefined) return frame;
    if (event !== "ping") return release() + frame;
    start += frame;
    return "";
  };

  /**
   * The `message_start`. With a stop reason it may be all of the message: it has its content too, or none follows.
   * @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling
   */
  const passStart = (data: string, said: string | undefined, hasContent: boolean): string => {
    const frame = printSse({ event: "message_start", data });
    if (said === undefined) return frame;
    if (hasContent) reason = said;
    else startReason = said;
    start = frame;
    return "";
  };

  /** The same for a `message_delta`. The first reason stands; a later event replaces the earlier for its usage. */
  const passDelta = (event: JsonObject, data: string, said: string | undefined): string => {
    if (reason === undefined) {
      if (said === undefined) return pass("message_delta", data);
      reason = said;
      finish = printSse({ event: "message_delta", data });
    } else if (isJsonObject(event.usage)) {
      const stands = JSON.stringify(reason);
      const delta = (text = "{}") => editMembers(text, { stop_reason: () => stands });
      finish = printSse({ event: "message_delta", data: editMembers(data, { delta }) });
    }
    return "";
  };

  return {
    isFinished: () => reason !== undefined,
    reason: () => reason,
    pass,
    passStart,
    passDelta,
    print: () => start + finish + stop,
  };
}
