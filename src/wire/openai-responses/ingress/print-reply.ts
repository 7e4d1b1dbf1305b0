import type { ChatReply, OutputEvent, ReplyBlock } from "../../../domain/chat-event.ts";
import type { ReplyHead } from "../../codecs.ts";
import { finishStatusOf } from "../finish-reason.ts";
import { printResponse } from "../response.ts";
import { NOTHING_ECHOED } from "./echoed-fields.ts";
import { createOutputPrinter } from "./print-output.ts";

/**
 * Prints a whole answer as a response object.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export function printReply(head: ReplyHead, { blocks, finish, usage }: ChatReply): string {
  const echoed = head.echoed ?? NOTHING_ECHOED;
  const output = createOutputPrinter(head, echoed, () => {});
  for (const [position, block] of blocks.entries()) {
    for (const event of eventsOf(block, position)) output.add(event);
  }
  const { status, reason } = finishStatusOf(finish.reason);
  const items = output.end(status === "incomplete");
  return printResponse(head, echoed, { status, reason, output: items, usage });
}

/**
 * Returns the events of one block. The position of a call's block serves as its number, which need only be
 * distinct.
 */
function eventsOf(block: ReplyBlock, position: number): readonly OutputEvent[] {
  switch (block.kind) {
    case "tool_call":
      return [
        { kind: "tool_call", call: position, id: block.id, name: block.name },
        { kind: "tool_input", call: position, json: block.input },
      ];
    case "reasoning": {
      const { text, signature } = block;
      const signed = signature === undefined ? [] : [{ kind: "reasoning_seal", signature } as const];
      return [{ kind: "reasoning", text }, ...signed];
    }
    default:
      return [block];
  }
}
