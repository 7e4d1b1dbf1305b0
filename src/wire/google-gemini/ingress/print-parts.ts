import { type FinishEvent, isCutOff, type OutputEvent } from "../../../domain/chat-event.ts";
import type { ReplyHead } from "../../format.ts";
import { createCallIds } from "../../identifiers.ts";
import { joinMembers, parseJsonObject, printMembers } from "../../json/read.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import { type CarriedReasoning, encodeReasoning } from "../carried-reasoning.ts";

/**
 * Prints output as parts, in JSON. Reasoning is shown to clients that asked for thoughts. What its provider wants
 * back is carried as the signature of the part that follows, for every client.
 */
export function createPartPrinter({ id, isReasoningShown }: ReplyHead) {
  const idOf = createCallIds((calls) => `call_${id}_${calls}`);
  const calls = createCallQueue();
  const reasoning = createReasoningCarrier();
  let hasRefusal = false;

  const printText = (text: string): readonly string[] =>
    text === "" ? [] : [...calls.takeWhole(), JSON.stringify({ text, thoughtSignature: reasoning.take() })];

  const printThought = (text: string): readonly string[] =>
    text === "" || !isReasoningShown ? [] : [...calls.takeWhole(), JSON.stringify({ text, thought: true })];

  return {
    hasRefusal: () => hasRefusal,

    /** Returns the parts that may be sent now. */
    add(event: OutputEvent): readonly string[] {
      reasoning.add(event);
      switch (event.kind) {
        case "refusal":
          hasRefusal ||= event.text !== "";
          return printText(event.text);
        case "text":
          return printText(event.text);
        case "reasoning":
          return printThought(event.text);
        case "tool_call":
          calls.begin(event.call, { id: idOf(event.id), name: event.name, signature: reasoning.take() });
          return [];
        case "tool_input":
          calls.add(event.call, event.json);
          return [];
        default:
          return [];
      }
    },

    /** Returns the remaining parts. Throws {@link UpstreamFault} for an incomplete call of an answer not cut off. */
    end(finish: FinishEvent): readonly string[] {
      const rest = calls.takeRest(finish);
      const thoughtSignature = reasoning.take();
      return thoughtSignature === undefined
        ? rest
        : [...rest, JSON.stringify({ text: "", thoughtSignature })];
    },
  };
}

/** Collects the reasoning before a part, with the signatures that its provider wants back. */
function createReasoningCarrier() {
  let carried: CarriedReasoning[] = [];
  let unsigned = "";
  return {
    add(event: OutputEvent): void {
      if (event.kind === "reasoning") unsigned += event.text;
      else if (event.kind === "redacted_reasoning")
        carried.push({ text: "", signature: undefined, redacted: event.data });
      else if (event.kind === "reasoning_signature") {
        carried.push({ text: unsigned, signature: event.signature, redacted: undefined });
        unsigned = "";
      }
    },
    /** Returns the signature of the next part; `undefined` without signed reasoning. */
    take(): string | undefined {
      const taken = carried;
      carried = [];
      unsigned = "";
      return taken.length === 0 ? undefined : encodeReasoning(taken);
    },
  };
}

/** A call whose signature carries the reasoning before it. */
interface Call {
  readonly id: string;
  readonly name: string;
  readonly signature: string | undefined;
}

/** Keeps calls until their input is whole, because Gemini's clients take a call in one part. */
function createCallQueue() {
  const open = new Map<number, Call & { input: string }>();
  let isWaiting = false;
  return {
    begin: (index: number, call: Call): void => void open.set(index, { ...call, input: "" }),

    add(index: number, json: string): void {
      const call = open.get(index);
      if (call) call.input += json;
    },

    /** Returns the calls that are whole. Once one is not, it and all later ones wait for the end. */
    takeWhole(): readonly string[] {
      const printed: string[] = [];
      for (const [index, call] of isWaiting ? [] : open) {
        const args = call.input === "" ? undefined : printArguments(call.input);
        isWaiting = args === undefined;
        if (args === undefined) break;
        printed.push(printCall(call, args));
        open.delete(index);
      }
      return printed;
    },

    takeRest(finish: FinishEvent): readonly string[] {
      return [...open.values()].flatMap((call) => {
        const args = printArguments(call.input);
        if (args !== undefined) return [printCall(call, args)];
        if (isCutOff(finish)) return [];
        throw new UpstreamFault("The input of a tool call is no object");
      });
    },
  };
}

function printCall({ id, name, signature }: Call, args: string): string {
  const functionCall = joinMembers({ ...printMembers({ id, name }), args });
  return joinMembers({ functionCall, thoughtSignature: signature && JSON.stringify(signature) });
}

/**
 * Returns the input of a call if it is whole: as the model wrote it, because parsing would round long numbers, but
 * in one line, because clients read events of one line only. In valid JSON, line ends are white space.
 */
function printArguments(input: string): string | undefined {
  if (/^[ \t\r\n]*$/.test(input)) return "{}";
  return parseJsonObject(input) && input.trim().replaceAll(/[\r\n]+/g, " ");
}
