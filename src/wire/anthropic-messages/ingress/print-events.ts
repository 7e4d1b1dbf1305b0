import type { UsageEvent } from "../../../domain/chat-event.ts";
import type { EventPrinter, ReplyHead } from "../../codecs.ts";
import { printSse } from "../../sse.ts";
import { printStopReason } from "../finish-reason.ts";
import { printUsage } from "../usage.ts";
import { createBlockPrinter } from "./print-blocks.ts";

/**
 * Prints an answer as a streamed message. `message_start` carries a guess of the input tokens, for clients
 * that read them only there. It carries no output tokens, because some clients add the counts of start and
 * end.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export function printEvents(head: ReplyHead): EventPrinter {
  const blocks = createBlockPrinter(head);
  let isStarted = false;
  let hasRefusal = false;

  const startWith = (text: string): string => {
    if (isStarted || text === "") return text;
    isStarted = true;
    return printStart(head) + text;
  };

  return {
    print(event) {
      hasRefusal ||= event.kind === "refusal" && event.text !== "";
      return startWith(blocks.print(event));
    },
    end(finish, usage) {
      const rest = blocks.end(finish);
      return startWith(rest + printEnd(head, printStopReason(finish, hasRefusal), usage));
    },
  };
}

function printStart({ request, id, inputTokens }: ReplyHead): string {
  const message = {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model: request.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: printUsage(undefined, inputTokens),
  };
  return printEvent({ type: "message_start", message });
}

function printEnd({ inputTokens }: ReplyHead, delta: object, usage: UsageEvent | undefined): string {
  return (
    printEvent({ type: "message_delta", delta, usage: printUsage(usage, inputTokens) }) +
    printEvent({ type: "message_stop" })
  );
}

function printEvent(event: { readonly type: string; readonly [member: string]: unknown }): string {
  return printSse({ event: event.type, data: JSON.stringify(event) });
}
