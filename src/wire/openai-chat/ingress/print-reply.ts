import type { ChatReply, ReplyBlock, ToolCallBlock } from "../../../domain/chat-event.ts";
import type { ReplyHead } from "../../codecs.ts";
import { createCallIds } from "../../identifiers.ts";
import { generateCallId } from "../chunk.ts";
import { printReasoningDetail, type ReasoningDetail } from "../reasoning.ts";
import { printUsage } from "../usage.ts";

/**
 * Prints a whole answer as one chat completion.
 *
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export function printReply(head: ReplyHead, { blocks, finish, usage }: ChatReply): string {
  const isCut = finish.reason === "length";
  const idOf = createCallIds((calls) => generateCallId(head.id, calls));
  const message = {
    role: "assistant",
    ...printTexts(blocks),
    ...(head.isReasoningShown && printReasoning(blocks)),
    ...printCalls(blocks, (call) => printCall(call, { isCut, id: idOf(call.id) })),
  };
  return JSON.stringify({
    ...printHead(head, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish.reason }],
    usage: printUsage(usage),
  });
}

/** Prints the first members of a chunk or a whole answer, with the model's name as the client sent it. */
export function printHead({ id, createdAtS, request }: ReplyHead, object: string) {
  return { id: `chatcmpl-${id}`, object, created: createdAtS, model: request.model };
}

function printTexts(blocks: readonly ReplyBlock[]): object {
  const text = textOf(blocks, "text");
  const refusal = textOf(blocks, "refusal");
  const hasOther = refusal !== "" || blocks.some(({ kind }) => kind === "tool_call");
  return { content: text === "" && hasOther ? null : text, refusal: refusal || null };
}

/** Prints reasoning as one text for all clients, and with its signatures for those that send it back. */
function printReasoning(blocks: readonly ReplyBlock[]): object {
  const text = textOf(blocks, "reasoning");
  const signed = blocks.flatMap(signedOf);
  return {
    ...(text !== "" && { reasoning_content: text }),
    ...(signed.length > 0 && { reasoning_details: signed.map(printReasoningDetail) }),
  };
}

function signedOf(block: ReplyBlock): readonly ReasoningDetail[] {
  if (block.kind === "redacted_reasoning") return [{ text: "", signature: undefined, redacted: block.data }];
  const isSigned = block.kind === "reasoning" && block.signature !== undefined;
  return isSigned ? [{ ...block, redacted: undefined }] : [];
}

function printCalls(blocks: readonly ReplyBlock[], print: (call: ToolCallBlock) => object) {
  const calls = blocks.filter((block) => block.kind === "tool_call");
  return calls.length === 0 ? {} : { tool_calls: calls.map(print) };
}

/** Prints a call. Clients parse the arguments, so empty ones become "{}" unless the answer was cut off. */
function printCall({ name, input }: ToolCallBlock, { isCut, id }: { isCut: boolean; id: string }): object {
  const json = input.trim() === "" && !isCut ? "{}" : input;
  return { id, type: "function", function: { name, arguments: json } };
}

function textOf(blocks: readonly ReplyBlock[], kind: "text" | "refusal" | "reasoning"): string {
  return blocks.map((block) => (block.kind === kind ? block.text : "")).join("");
}
