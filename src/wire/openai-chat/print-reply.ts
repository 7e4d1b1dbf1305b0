import type { ChatReply, ReplyBlock, ToolCallBlock } from "../../domain/chat-reply.ts";
import type { ReplyHead } from "../ends.ts";
import { ownCallId } from "./call-finder.ts";
import { printReasoningDetail, type ReasoningDetail } from "./reasoning-details.ts";
import { printHead } from "./reply-head.ts";
import { printUsage } from "./usage.ts";

/** Prints a whole answer as one chat completion. */
export function printWhole(head: ReplyHead, { blocks, finish, usage }: ChatReply): string {
  const isCut = finish.reason === "length";
  const message = {
    role: "assistant",
    ...printWords(blocks),
    ...(head.request.chat().reasoning.isShown && printReasoning(blocks)),
    ...printCalls(blocks, (call, index) => printCall(call, { isCut, ownId: ownCallId(head.id, index) })),
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

function printCalls(blocks: readonly ReplyBlock[], print: (call: ToolCallBlock, index: number) => object) {
  const calls = blocks.filter((block) => block.kind === "tool_call");
  return calls.length === 0 ? {} : { tool_calls: calls.map(print) };
}

/** Clients parse the arguments, so none become an object; what was cut off stays as it is. */
function printCall({ id, name, input }: ToolCallBlock, how: { isCut: boolean; ownId: string }): object {
  const json = input.trim() === "" && !how.isCut ? "{}" : input;
  return { id: id || how.ownId, type: "function", function: { name, arguments: json } };
}

function textOf(blocks: readonly ReplyBlock[], kind: "text" | "refusal" | "reasoning"): string {
  return blocks.map((block) => (block.kind === kind ? block.text : "")).join("");
}
