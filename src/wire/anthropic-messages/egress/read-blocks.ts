import type { ChatEvent, OutputEvent } from "../../../domain/chat-event.ts";
import { isJsonObject, isSet, type JsonObject, readText } from "../../json/read.ts";
import { BLOCKS_MAX, printCallInput, textEvents } from "../../output-events.ts";
import { UpstreamFault } from "../../upstream-fault.ts";

/**
 * A block that has started. Holds the call that receives its input, or is "other" for a block without input.
 */
type OpenBlock = { readonly call: number | HeldCall; readonly hasInput: boolean } | "other";

/** A call by code that runs at the provider. Held until it is known whether the client has to answer it. */
interface HeldCall {
  readonly id: string;
  readonly name: string;
  /** Id of the `server_tool_use` block whose code made the call. */
  readonly toolId: string;
  json: string;
}

/**
 * Reads the blocks of one answer, streamed or whole, into output events. Calls are numbered independently of
 * blocks. Blocks of server tools and citations are left out.
 *
 * Calls by code at the provider are held until the finish. The client has to answer them only if the answer
 * stops for tool use before the code has a result.
 *
 * @see https://docs.anthropic.com/en/api/messages
 * @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling
 */
export function createBlockReader() {
  const open = new Map<unknown, OpenBlock>();
  const held: HeldCall[] = [];
  const answered = new Set<string>();
  let blocks = 0;
  let calls = 0;

  const beginCall = (id: string, name: string, json: string): readonly OutputEvent[] => {
    const call = calls++;
    const begun: OutputEvent = { kind: "tool_call", call, id, name };
    return json === "" ? [begun] : [begun, { kind: "tool_input", call, json }];
  };

  const startCall = (index: unknown, block: JsonObject, rawInput?: string): readonly ChatEvent[] => {
    const name = readText(block.name);
    if (name === "") throw new UpstreamFault("A tool call has no name");
    const json = printCallInput(block.input, rawInput);
    const id = readText(block.id);
    const toolId = readCallingTool(block);
    const hasInput = json !== "";
    if (toolId === undefined) {
      open.set(index, { call: calls, hasInput });
      return beginCall(id, name, json);
    }
    const call: HeldCall = { id, name, toolId, json };
    held.push(call);
    open.set(index, { call, hasInput });
    return [{ kind: "began" }];
  };

  const addInput = (index: unknown, delta: JsonObject): readonly OutputEvent[] => {
    const block = open.get(index);
    const { partial_json: json = "" } = delta;
    if (block === undefined || typeof json !== "string") {
      throw new UpstreamFault("A piece of input belongs to no tool call");
    }
    // Some hosts send the whole input at the start and repeat it in deltas.
    if (block === "other" || block.hasInput || json === "") return [];
    if (typeof block.call === "number") return [{ kind: "tool_input", call: block.call, json }];
    block.call.json += json;
    return [];
  };

  return {
    /**
     * Reads a block as it starts, or a whole block. `rawInput` is the original text of its input, if known.
     * Throws {@link UpstreamFault} above 10,000 blocks.
     */
    start(index: unknown, block: JsonObject, rawInput?: string): readonly ChatEvent[] {
      blocks += 1;
      if (blocks > BLOCKS_MAX) throw new UpstreamFault("There are too many blocks");
      if (block.type === "tool_use") return startCall(index, block, rawInput);
      open.set(index, "other");
      if (readText(block.type).endsWith("_tool_result")) answered.add(readText(block.tool_use_id));
      const output = readBlock(block);
      return output.length > 0 ? output : [{ kind: "began" }];
    },

    delta(index: unknown, delta: JsonObject): readonly OutputEvent[] {
      if (delta.type === "text_delta") return textEvents("text", delta.text);
      if (delta.type === "input_json_delta") return addInput(index, delta);
      if (delta.type === "thinking_delta") return textEvents("reasoning", delta.thinking);
      return delta.type === "signature_delta" ? signatureEvents(delta.signature) : [];
    },

    stop(index: unknown): void {
      open.delete(index);
    },

    /** Returns the held calls that the client has to answer. */
    finish(stopReason: string): readonly OutputEvent[] {
      if (stopReason !== "tool_use") return [];
      return held
        .filter(({ toolId }) => !answered.has(toolId))
        .flatMap(({ id, name, json }) => beginCall(id, name, json));
    },
  };
}

/** Returns the id of the server tool whose code made a call; `undefined` for a call by the model. */
function readCallingTool({ caller }: JsonObject): string | undefined {
  if (!isJsonObject(caller) || !isSet(caller.type) || caller.type === "direct") return undefined;
  return readText(caller.tool_id);
}

/** Returns the output of a block without input, as it starts. */
function readBlock(block: JsonObject): readonly OutputEvent[] {
  if (block.type === "text") return textEvents("text", block.text);
  if (block.type === "thinking")
    return [...textEvents("reasoning", block.thinking), ...signatureEvents(block.signature)];
  const data = block.type === "redacted_thinking" ? readText(block.data) : "";
  return data === "" ? [] : [{ kind: "redacted_reasoning", data }];
}

function signatureEvents(value: unknown): readonly OutputEvent[] {
  const signature = readText(value);
  return signature === "" ? [] : [{ kind: "reasoning_signature", signature }];
}
