import type { ChatReply } from "../../../domain/chat-event.ts";
import type { EventPrinter, ReplyHead } from "../../format.ts";
import { blockEvents } from "../../output-events.ts";
import { printSse } from "../../sse.ts";
import { BEGUN, finishStatusOf, type Progress, printResponse, printResponseEvent } from "../response.ts";
import { NOTHING_ECHOED } from "./echoed-fields.ts";
import { createOutputPrinter } from "./print-output.ts";

/**
 * Prints an answer as a stream of numbered events: begin, deltas and end of each item, and the whole response
 * last. Nothing is printed before the first output that the client receives.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export function printEvents(head: ReplyHead): EventPrinter {
  const echoed = head.echoed ?? NOTHING_ECHOED;
  let sequenceNumber = 0;
  let text = "";

  const output = createOutputPrinter(head, echoed, (type, members) => {
    begin();
    const data = JSON.stringify({ type, sequence_number: sequenceNumber++, ...members });
    text += printSse({ event: type, data });
  });

  const emitResponse = (type: `response.${string}`, progress: Progress): void => {
    const response = printResponse(head, echoed, progress);
    text += printResponseEvent(type, { sequenceNumber: sequenceNumber++, response });
  };

  const begin = (): void => {
    if (sequenceNumber > 0) return;
    emitResponse("response.created", BEGUN);
    emitResponse("response.in_progress", BEGUN);
  };

  const takeText = (): string => {
    const taken = text;
    text = "";
    return taken;
  };

  return {
    print(event) {
      output.add(event);
      return takeText();
    },
    end(finish, usage) {
      begin();
      const { status, reason } = finishStatusOf(finish.reason);
      const items = output.end(status === "incomplete");
      emitResponse(`response.${status}`, { status, reason, output: items, usage });
      return takeText();
    },
  };
}

/** Prints a whole answer as a response object. */
export function printReply(head: ReplyHead, { blocks, finish, usage }: ChatReply): string {
  const echoed = head.echoed ?? NOTHING_ECHOED;
  const output = createOutputPrinter(head, echoed, () => {});
  for (const [position, block] of blocks.entries()) {
    for (const event of blockEvents(block, position)) output.add(event);
  }
  const { status, reason } = finishStatusOf(finish.reason);
  const items = output.end(status === "incomplete");
  return printResponse(head, echoed, { status, reason, output: items, usage });
}
