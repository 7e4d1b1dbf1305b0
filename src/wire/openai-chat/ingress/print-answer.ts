import type {
  ChatReply,
  OutputEvent,
  ReplyBlock,
  ToolCallBlock,
  ToolCallEvent,
} from "../../../domain/chat-event.ts";
import type { EventPrinter, ReplyHead } from "../../format.ts";
import { createCallIds } from "../../identifiers.ts";
import { printUsage } from "../../openai-usage.ts";
import { printSse } from "../../sse.ts";
import { END_MARK, generateCallId } from "../chunk.ts";
import { printReasoningDetail, type ReasoningDetail } from "../reasoning.ts";

const ROLE = { role: "assistant", content: "", refusal: null };

/**
 * Prints an answer as a stream of chat chunks. The role comes first, then each delta as it arrives, then one
 * finish. A client that requested the usage gets it on a chunk of its own.
 */
export function printEvents(head: ReplyHead): EventPrinter {
  const chunks = createChunkPrinter(head);
  const reasoning = createReasoningPrinter(head.isReasoningShown);
  const calls = createCallPrinter(head);
  let isBegun = false;

  const deltaOf = (event: OutputEvent): object | undefined => {
    if (event.kind === "text") return event.text === "" ? undefined : { content: event.text };
    if (event.kind === "refusal") return event.text === "" ? undefined : { refusal: event.text };
    if (event.kind === "tool_call") return calls.begin(event);
    return event.kind === "tool_input" ? calls.add(event.call, event.json) : undefined;
  };

  const begin = (): string => {
    if (isBegun) return "";
    isBegun = true;
    return chunks.printDelta(ROLE);
  };

  const printDelta = (delta: object | undefined): string =>
    delta === undefined ? "" : begin() + chunks.printDelta(delta);

  return {
    print: (event) => printDelta(reasoning.read(event) ?? deltaOf(event)),

    end(finish, usage) {
      const emptyArguments = finish.reason === "length" ? [] : calls.completeEmpty();
      const usageChunk = head.request.wantsUsage ? chunks.printUsage(printUsage(usage)) : "";
      return [
        begin(),
        ...emptyArguments.map((delta) => chunks.printDelta(delta)),
        chunks.printDelta({}, finish.reason),
        usageChunk,
        printSse({ data: END_MARK }),
      ].join("");
    },
  };
}

function createChunkPrinter(head: ReplyHead) {
  const start = JSON.stringify(printHead(head, "chat.completion.chunk")).slice(0, -1);
  // With `include_usage`, every chunk without a usage has a null.
  const end = head.request.wantsUsage ? ',"usage":null}' : "}";

  return {
    printDelta(delta: object, finishReason: string | null = null): string {
      const choice = JSON.stringify({ index: 0, delta, logprobs: null, finish_reason: finishReason });
      return printSse({ data: `${start},"choices":[${choice}]${end}` });
    },

    printUsage(usage: object | undefined): string {
      return usage ? printSse({ data: `${start},"choices":[],"usage":${JSON.stringify(usage)}}` }) : "";
    },
  };
}

/**
 * Prints reasoning as it arrives. A signature is sent together with the whole text that it signs, so that
 * clients can send both back.
 */
function createReasoningPrinter(isShown: boolean) {
  let unsigned = "";
  let details = 0;

  const print = (event: OutputEvent): object | undefined => {
    if (event.kind === "reasoning") return event.text === "" ? undefined : { reasoning_content: event.text };
    if (event.kind === "reasoning_signature") {
      const signed = { text: unsigned, signature: event.signature, redacted: undefined };
      return { reasoning_details: [printReasoningDetail(signed, details++)] };
    }
    if (event.kind !== "redacted_reasoning") return undefined;
    const redacted = { text: "", signature: undefined, redacted: event.data };
    return { reasoning_details: [printReasoningDetail(redacted, details++)] };
  };

  return {
    /** Returns the delta of a reasoning event; `undefined` for other events and for hidden reasoning. */
    read(event: OutputEvent): object | undefined {
      const delta = isShown ? print(event) : undefined;
      unsigned = event.kind === "reasoning" ? unsigned + event.text : "";
      return delta;
    },
  };
}

/**
 * Prints tool calls, each beginning with its id, type and name. Clients parse the arguments, so empty ones
 * become "{}" at the end.
 */
function createCallPrinter({ id }: ReplyHead) {
  const empty = new Set<number>();
  const idOf = createCallIds((calls) => generateCallId(id, calls));
  const argumentsOf = (index: number, json: string) => ({
    tool_calls: [{ index, function: { arguments: json } }],
  });

  return {
    begin({ call, id: callId, name }: ToolCallEvent): object {
      empty.add(call);
      const named = { name, arguments: "" };
      return {
        tool_calls: [{ index: call, id: idOf(callId), type: "function", function: named }],
      };
    },
    add(call: number, json: string): object | undefined {
      if (json === "") return undefined;
      if (json.trim() !== "") empty.delete(call);
      return argumentsOf(call, json);
    },
    completeEmpty: () => [...empty].map((call) => argumentsOf(call, "{}")),
  };
}

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
function printHead({ id, createdAtS, request }: ReplyHead, object: string) {
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
