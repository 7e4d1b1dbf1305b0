import type { ChatReply, ReplyBlock, ToolCallBlock } from "../../../domain/chat-event.ts";
import type { ReplyHead } from "../../codecs.ts";
import { isHostSeal } from "../../host-seal.ts";
import { createToolUseIds } from "../call-ids.ts";
import { joinMembers, printMembers } from "../json-members.ts";
import { isCut, printStopReason } from "./print-stop-reason.ts";
import { printUsage } from "./print-usage.ts";
import { completeInput, requireInput } from "./tool-input.ts";

/**
 * Prints a whole answer as a message. Throws `UpstreamFault` for a call without a whole input; of an answer
 * that was cut off such a call is left out.
 */
export function printReply(head: ReplyHead, reply: ChatReply): string {
  const { request, id, inputTokens } = head;
  const blocks = isCut(reply.finish) ? reply.blocks.filter(isWhole) : reply.blocks;
  const hasRefusal = blocks.some(({ kind }) => kind === "refusal");
  const message = {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model: request.model,
    ...printStopReason(reply.finish, hasRefusal),
    usage: printUsage(reply.usage, inputTokens),
  };
  return joinMembers({ ...printMembers(message), content: `[${printContent(head, blocks)}]` });
}

function isWhole(block: ReplyBlock): boolean {
  return block.kind !== "tool_call" || completeInput(block.input) !== undefined;
}

function printContent(head: ReplyHead, blocks: readonly ReplyBlock[]): string {
  const idOf = createToolUseIds(head);
  return visibleBlocks(head, blocks)
    .map((block) => (block.kind === "tool_call" ? printCall(block, idOf(block.id)) : printBlock(block)))
    .join(",");
}

/**
 * The blocks as far as the client gets to see them. What a host wants back with its calls stands before them for
 * everybody: their results would be refused without.
 */
function visibleBlocks(
  { isReasoningShown: isShown, keepsSeals = isShown }: ReplyHead,
  blocks: readonly ReplyBlock[],
): readonly ReplyBlock[] {
  const visible: ReplyBlock[] = [];
  let withheld: ReplyBlock[] = [];
  for (const block of blocks) {
    if (block.kind === "reasoning") {
      const seen = isShown ? block : { ...block, text: "" };
      if (keepsSeals && (seen.text !== "" || seen.signature)) visible.push(seen);
    } else if (block.kind === "redacted_reasoning") {
      if (keepsSeals) visible.push(block);
      else if (isHostSeal(block.data)) withheld.push(block);
    } else if (block.kind === "tool_call") {
      visible.push(...withheld, block);
      withheld = [];
    } else visible.push(block);
  }
  return blocks.some(({ kind }) => kind === "tool_call") ? [...visible, ...withheld] : visible;
}

/** The input stays as the model wrote it: no number loses digits. */
function printCall({ name, input }: ToolCallBlock, id: string): string {
  return joinMembers({ ...printMembers({ type: "tool_use", id, name }), input: requireInput(input) });
}

function printBlock(block: Exclude<ReplyBlock, ToolCallBlock>): string {
  switch (block.kind) {
    case "reasoning":
      return JSON.stringify({ type: "thinking", thinking: block.text, signature: block.signature ?? "" });
    case "redacted_reasoning":
      return JSON.stringify({ type: "redacted_thinking", data: block.data });
    default:
      return JSON.stringify({ type: "text", text: block.text });
  }
}
