import type { OutputEvent, ToolCallEvent } from "../../../domain/chat-event.ts";
import { createCallIds } from "../../call-ids.ts";
import type { EventPrinter, ReplyHead } from "../../codecs.ts";
import { printSse } from "../../sse.ts";
import { generateCallId } from "../call-finder.ts";
import { END_MARK } from "../chunk.ts";
import { printReasoningDetail } from "../reasoning-details.ts";
import { printUsage } from "../usage.ts";
import { printHead } from "./reply-head.ts";

const ROLE = { role: "assistant", content: "", refusal: null };

/**
 * Prints an answer as a stream of chat chunks: the role first, then each delta as it comes, one finish, and
 * usage on a chunk of its own for those who asked.
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

  const say = (delta: object | undefined): string =>
    delta === undefined ? "" : begin() + chunks.printDelta(delta);

  return {
    print: (event) => say(reasoning.read(event) ?? deltaOf(event)),

    end(finish, usage) {
      const rest = finish.reason === "length" ? [] : calls.completeEmpty();
      const usageChunk = head.request.wantsUsage ? chunks.printUsage(printUsage(usage)) : "";
      return [
        begin(),
        ...rest.map((delta) => chunks.printDelta(delta)),
        chunks.printDelta({}, finish.reason),
        usageChunk,
        printSse({ data: END_MARK }),
      ].join("");
    },
  };
}

function createChunkPrinter(head: ReplyHead) {
  const start = JSON.stringify(printHead(head, "chat.completion.chunk")).slice(0, -1);
  // Those who want usage are told by each chunk that it has none.
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
 * Reasoning goes out as it comes. What seals it goes out together with the text that it seals, so that a client
 * can send both back.
 */
function createReasoningPrinter(isShown: boolean) {
  let unsealed = "";
  let details = 0;

  const print = (event: OutputEvent): object | undefined => {
    if (event.kind === "reasoning") return event.text === "" ? undefined : { reasoning_content: event.text };
    if (event.kind === "reasoning_seal") {
      const sealed = { text: unsealed, signature: event.signature, redacted: undefined };
      return { reasoning_details: [printReasoningDetail(sealed, details++)] };
    }
    if (event.kind !== "redacted_reasoning") return undefined;
    const redacted = { text: "", signature: undefined, redacted: event.data };
    return { reasoning_details: [printReasoningDetail(redacted, details++)] };
  };

  return {
    /** The delta of an event that is reasoning, if the client gets to see it. */
    read(event: OutputEvent): object | undefined {
      const delta = isShown ? print(event) : undefined;
      unsealed = event.kind === "reasoning" ? unsealed + event.text : "";
      return delta;
    },
  };
}

/** Each call begins with its id, type and name; clients parse its arguments, so that none become an object. */
function createCallPrinter({ id }: ReplyHead) {
  const empty = new Set<number>();
  const idOf = createCallIds((calls) => generateCallId(id, calls));
  const argumentsOf = (index: number, json: string) => ({
    tool_calls: [{ index, function: { arguments: json } }],
  });

  return {
    begin({ call, id: callId, name }: ToolCallEvent): object {
      empty.add(call);
      const said = { name, arguments: "" };
      return {
        tool_calls: [{ index: call, id: idOf(callId), type: "function", function: said }],
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
