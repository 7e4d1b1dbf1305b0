import { isJsonObject, type JsonObject } from "../../json-read.ts";
import { editMembers } from "../../json-text.ts";
import { printSse } from "../../sse.ts";

const MESSAGE_STOP = printSse({ event: "message_stop", data: '{"type":"message_stop"}' });

/** Keeps back the end of a streamed message from its stop reason on, which clients get to see once. */
export function createEnding() {
  let reason: string | undefined;
  /** The event that says the reason. */
  let finish = "";
  /** What says that nothing comes behind it. */
  let stop = MESSAGE_STOP;

  /** The event's text for the client, "" once only the end is awaited: content would come to it after its finish. */
  const pass = (event: string, data: string): string => {
    const frame = printSse({ event, data });
    if (reason === undefined) return frame;
    if (event === "message_stop") stop = frame;
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
    pass,
    passDelta,
    print: () => finish + stop,
  };
}
