import type { EventPrinter, ReplyHead } from "../../codecs.ts";
import { printSse } from "../../sse.ts";
import { BEGUN, type Progress, printResponse, progressOf } from "../response.ts";
import { printResponseEvent } from "../response-event.ts";
import { createOutput } from "./output.ts";
import { NOTHING_ASKED } from "./request-context.ts";

/**
 * Prints an answer as a stream of numbered events, each item begun, written and done, and the whole response at the
 * end. Nothing is said before there is something that the client gets to see.
 */
export function printEvents(head: ReplyHead): EventPrinter {
  const asked = head.asked ?? NOTHING_ASKED;
  let sequenceNumber = 0;
  let text = "";

  const output = createOutput(head, asked, (type, members) => {
    begin();
    const data = JSON.stringify({ type, sequence_number: sequenceNumber++, ...members });
    text += printSse({ event: type, data });
  });

  const sayResponse = (type: `response.${string}`, progress: Progress): void => {
    const response = printResponse(head, asked, progress);
    text += printResponseEvent(type, { sequenceNumber: sequenceNumber++, response });
  };

  const begin = (): void => {
    if (sequenceNumber > 0) return;
    sayResponse("response.created", BEGUN);
    sayResponse("response.in_progress", BEGUN);
  };

  const take = (): string => {
    const taken = text;
    text = "";
    return taken;
  };

  return {
    print(event) {
      output.add(event);
      return take();
    },
    end(finish, usage) {
      begin();
      const { status, reason } = progressOf(finish.reason);
      const items = output.end(status === "incomplete");
      sayResponse(`response.${status}`, { status, reason, output: items, usage });
      return take();
    },
  };
}
