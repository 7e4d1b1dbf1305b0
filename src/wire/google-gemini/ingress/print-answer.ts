import type { ChatReply, FinishEvent, UsageEvent } from "../../../domain/chat-event.ts";
import type { EventPrinter, ReplyHead } from "../../format.ts";
import { joinElements, joinMembers, printMembers } from "../../json/read.ts";
import { blockEvents } from "../../output-events.ts";
import { printSse } from "../../sse.ts";
import { printFinish } from "../finish-reason.ts";
import { printUsage } from "../usage.ts";
import { createPartPrinter } from "./print-parts.ts";

/**
 * Prints an answer as a stream of responses. A call is printed whole, as Gemini sends it, and the usage comes with
 * the finish.
 *
 * @see https://ai.google.dev/api/generate-content#generatecontentresponse
 */
export function printEvents(head: ReplyHead): EventPrinter {
  const parts = createPartPrinter(head);
  const print = (printed: readonly string[]) =>
    printed.length === 0 ? "" : printSse({ data: printResponse(head, printed) });
  return {
    print: (event) => print(parts.add(event)),
    end(finish, usage) {
      const rest = parts.end(finish);
      return printSse({ data: printResponse(head, rest, { finish, usage, hasRefusal: parts.hasRefusal() }) });
    },
  };
}

/** Prints a whole answer. A call with an incomplete input is left out of an answer that was cut off. */
export function printReply(head: ReplyHead, { blocks, finish, usage }: ChatReply): string {
  const parts = createPartPrinter(head);
  const printed: string[] = [];
  for (const [position, block] of blocks.entries())
    for (const event of blockEvents(block, position)) printed.push(...parts.add(event));
  printed.push(...parts.end(finish));
  return printResponse(head, printed, { finish, usage, hasRefusal: parts.hasRefusal() });
}

/** How an answer ended. */
interface End {
  readonly finish: FinishEvent;
  readonly usage: UsageEvent | undefined;
  readonly hasRefusal: boolean;
}

const NO_PARTS = [JSON.stringify({ text: "" })];

/** Prints one response; the parts are JSON. Clients read the parts of the last one, which may be an empty text. */
function printResponse({ id, request }: ReplyHead, parts: readonly string[], end?: End): string {
  const content = joinMembers({
    parts: joinElements(parts.length === 0 ? NO_PARTS : parts),
    role: '"model"',
  });
  const candidate = joinMembers({
    content,
    ...printMembers({
      finishReason: end && printFinish(end.finish, end.hasRefusal),
      index: 0,
    }),
  });
  return joinMembers({
    candidates: `[${candidate}]`,
    ...printMembers({
      usageMetadata: end && printUsage(end.usage),
      modelVersion: request.model,
      responseId: id,
    }),
  });
}
