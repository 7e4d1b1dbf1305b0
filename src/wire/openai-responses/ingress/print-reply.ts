import type { ChatReply, OutputEvent, ReplyBlock } from "../../../domain/chat-event.ts";
import type { ReplyHead } from "../../codecs.ts";
import { printResponse, progressOf } from "../response.ts";
import { NOTHING_ASKED } from "./asked.ts";
import { createOutput, type Output } from "./output.ts";

/** Prints a whole answer as one response. */
export function printReply(head: ReplyHead, { blocks, finish, usage }: ChatReply): string {
  const asked = head.asked ?? NOTHING_ASKED;
  const output = createOutput(head, asked, () => {});
  for (const [position, block] of blocks.entries()) addBlock(output, block, position);
  const { status, reason } = progressOf(finish.reason);
  const items = output.end(status === "incomplete");
  return printResponse(head, asked, { status, reason, output: items, usage });
}

function addBlock({ add }: Output, block: ReplyBlock, position: number): void {
  for (const event of eventsOf(block, position)) add(event);
}

/** Calls are numbered by their blocks: only that they differ matters here. */
function eventsOf(block: ReplyBlock, position: number): readonly OutputEvent[] {
  switch (block.kind) {
    case "tool_call":
      return [
        { kind: "tool_call", call: position, id: block.id, name: block.name },
        { kind: "tool_input", call: position, json: block.input },
      ];
    case "reasoning": {
      const { text, signature } = block;
      const seal = signature === undefined ? [] : [{ kind: "reasoning_seal", signature } as const];
      return [{ kind: "reasoning", text }, ...seal];
    }
    default:
      return [block];
  }
}
