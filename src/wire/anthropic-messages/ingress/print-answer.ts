import {
  type ChatReply,
  isCutOff,
  type ReplyBlock,
  type ToolCallBlock,
  type UsageEvent,
} from "../../../domain/chat-event.ts";
import type { EventPrinter, ReplyHead } from "../../format.ts";
import { isHostReasoning } from "../../host-reasoning.ts";
import { joinMembers, printMembers } from "../../json/read.ts";
import { printSse } from "../../sse.ts";
import { printStopReason } from "../finish-reason.ts";
import { printUsage } from "../usage.ts";
import { createBlockPrinter } from "./print-blocks.ts";
import { completeInput, createToolUseIds, requireInput } from "./tool-calls.ts";

/**
 * Prints an answer as a streamed message. `message_start` contains the input that the upstream has reported,
 * else an estimate, for clients that read it only there. It contains no output tokens, because some clients
 * add up both counts.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export function printEvents(head: ReplyHead): EventPrinter {
  const blocks = createBlockPrinter(head);
  let isStarted = false;
  let hasRefusal = false;

  const startWith = (text: string, usage: UsageEvent | undefined): string => {
    if (isStarted || text === "") return text;
    isStarted = true;
    return printStart(head, usage) + text;
  };

  return {
    print(event, usage) {
      hasRefusal ||= event.kind === "refusal" && event.text !== "";
      return startWith(blocks.print(event), usage);
    },
    end(finish, usage) {
      const rest = blocks.end(finish);
      return startWith(rest + printEnd(head, printStopReason(finish, hasRefusal), usage), usage);
    },
  };
}

function printStart({ request, id, inputTokens }: ReplyHead, reported: UsageEvent | undefined): string {
  const usage = reported && { ...reported.usage, outputTokens: 0 };
  const message = {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model: request.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: printUsage(usage && { kind: "usage", usage, reasoningTokens: undefined }, inputTokens),
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

/**
 * Prints a whole answer as a message. A call with an incomplete input is left out of an answer that was cut
 * off; elsewhere it throws `UpstreamFault`.
 */
export function printReply(head: ReplyHead, reply: ChatReply): string {
  const { request, id, inputTokens } = head;
  const blocks = isCutOff(reply.finish) ? reply.blocks.filter(isWhole) : reply.blocks;
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
 * Returns the blocks that the client receives. Encrypted data that a host needs back with its calls comes
 * before them for every client. The host would reject the results without it.
 */
function visibleBlocks(
  { isReasoningShown: isShown, keepsSignatures: keepsEncrypted = isShown }: ReplyHead,
  blocks: readonly ReplyBlock[],
): readonly ReplyBlock[] {
  const visible: ReplyBlock[] = [];
  let withheld: ReplyBlock[] = [];
  for (const block of blocks) {
    if (block.kind === "reasoning") {
      const seen = isShown ? block : { ...block, text: "" };
      if (keepsEncrypted && (seen.text !== "" || seen.signature)) visible.push(seen);
    } else if (block.kind === "redacted_reasoning") {
      if (keepsEncrypted) visible.push(block);
      else if (isHostReasoning(block.data)) withheld.push(block);
    } else if (block.kind === "tool_call") {
      visible.push(...withheld, block);
      withheld = [];
    } else visible.push(block);
  }
  return blocks.some(({ kind }) => kind === "tool_call") ? [...visible, ...withheld] : visible;
}

/** Prints the input as the model wrote it, because parsing would round long numbers. */
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
