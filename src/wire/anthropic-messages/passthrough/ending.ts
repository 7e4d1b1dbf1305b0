import { editMembers } from "../../json/edit.ts";
import { isJsonObject, type JsonObject } from "../../json/read.ts";
import { printSse } from "../../sse.ts";

const MESSAGE_STOP = printSse({ event: "message_stop", data: '{"type":"message_stop"}' });

/** Holds back the end of a stream from its stop reason on, so that clients receive exactly one finish. */
export function createEnding() {
  let reason: string | undefined;
  /** The stop reason of a start without content. Valid only if no block follows. */
  let startReason: string | undefined;
  /** A `message_start` that already has a stop reason, followed by its pings. */
  let start = "";
  /** The `message_delta` with the stop reason. */
  let finish = "";
  let stop = MESSAGE_STOP;

  /**
   * Discards the stop reason of the start because content follows. Returns the events that were held back.
   */
  const release = (): string => {
    const held = start;
    startReason = undefined;
    start = "";
    return held;
  };

  /** Returns the event for the client; "" after a stop reason, behind which clients must get no content. */
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
   * Passes `message_start`. A start with a stop reason is held back until it is known whether blocks follow.
   *
   * @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling
   */
  const passStart = (data: string, stopReason: string | undefined, hasContent: boolean): string => {
    const frame = printSse({ event: "message_start", data });
    if (stopReason === undefined) return frame;
    if (hasContent) reason = stopReason;
    else startReason = stopReason;
    start = frame;
    return "";
  };

  /** Passes `message_delta`. The first stop reason stays; a later event with usage replaces the held one. */
  const passDelta = (event: JsonObject, data: string, stopReason: string | undefined): string => {
    if (reason === undefined) {
      if (stopReason === undefined) return pass("message_delta", data);
      reason = stopReason;
      finish = printSse({ event: "message_delta", data });
    } else if (isJsonObject(event.usage)) {
      const first = JSON.stringify(reason);
      const delta = (text = "") =>
        editMembers(text.startsWith("{") ? text : "{}", { stop_reason: () => first });
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
