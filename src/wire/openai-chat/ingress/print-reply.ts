import type { ChatReply, ReplyBlock, ToolCallBlock } from "../../../domain/chat-event.ts";
import { createCallIds } from "../../call-ids.ts";
import type { ReplyHead } from "../../codecs.ts";
import { ownCallId } from "../call-finder.ts";
import { printReasoningDetail, type ReasoningDetail } from "../reasoning-details.ts";
import { printUsage } from "../usage.ts";
import { printHead } from "./reply-head.ts";

/** Prints a whole answer as one chat completion. */
export function printReply(head: ReplyHead, { blocks, finish, usage }: ChatReply): string {
  const isCut = finish.reason === "length";
  const idOf = createCallIds((calls) => ownCallId(head.id, calls));
  const message = {
    role: "assistant",
    ...printWords(blocks),
    ...(head.isReasoningShown && printReasoning(blocks)),
    ...printCalls(blocks, (call) => printCall(call, { isCut, id: idOf(call.id) })),
  };
  return JSON.stringify({
    ...printHead(head, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish.reason }],
    usage: printUsage(usage),
  });
}

function printWords(blocks: readonly ReplyBlock[]): object {
  const text = textOf(blocks, "text");
  const refusal = textOf(blocks, "refusal");
  const saysOtherwise = refusal !== "" || blocks.some(({ kind }) => kind === "tool_call");
  return { content: text === "" && saysOtherwise ? null : text, refusal: refusal || null };
}

/** As a text for all clients, and with its seals for those that send it back. */
function printReasoning(blocks: readonly ReplyBlock[]): object {
  const text = textOf(blocks, "reasoning");
  const sealed = blocks.flatMap(sealedOf);
  return {
    ...(text !== "" && { reasoning_content: text }),
    ...(sealed.length > 0 && { reasoning_details: sealed.map(printReasoningDetail) }),
  };
}

function sealedOf(block: ReplyBlock): readonly ReasoningDetail[] {
  if (block.kind === "redacted_reasoning") return [{ text: "", signature: undefined, redacted: block.data }];
  const isSealed = block.kind === "reasoning" && block.signature !== undefined;
  return isSealed ? [{ ...block, redacted: undefined }] : [];
}

function printCalls(blocks: readonly ReplyBlock[], print: (call: ToolCallBlock) => object) {
  const calls = blocks.filter((block) => block.kind === "tool_call");
  return calls.length === 0 ? {} : { tool_calls: calls.map(print) };
}

/** Clients parse the arguments, so none become an object; what was cut off stays as it is. */
function printCall({ name, input }: ToolCallBlock, { isCut, id }: { isCut: boolean; id: string }): object {
  const json = input.trim() === "" && !isCut ? "{}" : input;
  return { id, type: "function", function: { name, arguments: json } };
}

function textOf(blocks: readonly ReplyBlock[], kind: "text" | "refusal" | "reasoning"): string {
  return blocks.map((block) => (block.kind === kind ? block.text : "")).join("");
}
