import type { ChatEvent, OutputEvent } from "../../../domain/chat-event.ts";
import { isTooDeep } from "../../json/depth.ts";
import { isJsonObject, isSet, type JsonObject, readText } from "../../json/read.ts";
import { UpstreamFault } from "../../protocol.ts";

/** A block that has begun: the call that its input is for, or "other". */
type OpenBlock = { readonly call: number | HeldCall; readonly hasInput: boolean } | "other";

/** A call that code at the provider made, until it is known who answers it. */
interface HeldCall {
  readonly id: string;
  readonly name: string;
  /** The `server_tool_use` whose code made the call. */
  readonly toolId: string;
  json: string;
}

/** More than any model puts out, and what reading, printing and keeping them takes is still nothing. */
const BLOCKS_MAX = 10_000;

/**
 * Follows the blocks of one answer, streamed or whole, and says what they put out. Calls are counted apart
 * from blocks; what a server's tools did is left out, and so are citations.
 *
 * Calls that code at the provider made are held until the finish: the client has to answer them only if the answer
 * waits for that, and the code has no result yet.
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
    const read = readInput(block.input);
    const json = read === "" ? "" : (rawInput ?? read);
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
    // Who gives all of the input at the start may give it once more.
    if (block === "other" || block.hasInput || json === "") return [];
    if (typeof block.call === "number") return [{ kind: "tool_input", call: block.call, json }];
    block.call.json += json;
    return [];
  };

  return {
    /**
     * A block as it starts, or all of it; `rawInput` is the text of its input where that is known. Throws
     * {@link UpstreamFault} when there are too many.
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
      if (delta.type === "text_delta") return said("text", delta.text);
      if (delta.type === "input_json_delta") return addInput(index, delta);
      if (delta.type === "thinking_delta") return said("reasoning", delta.thinking);
      return delta.type === "signature_delta" ? sealed(delta.signature) : [];
    },

    stop(index: unknown): void {
      open.delete(index);
    },

    /** The calls that were held and that the client has to answer. */
    finish(stopReason: string): readonly OutputEvent[] {
      if (stopReason !== "tool_use") return [];
      return held
        .filter(({ toolId }) => !answered.has(toolId))
        .flatMap(({ id, name, json }) => beginCall(id, name, json));
    },
  };
}

/** The tool at the provider whose code made a call; `undefined` for a call of the model itself. */
function readCallingTool({ caller }: JsonObject): string | undefined {
  if (!isJsonObject(caller) || !isSet(caller.type) || caller.type === "direct") return undefined;
  return readText(caller.tool_id);
}

/** What a block that is no call puts out as it starts. */
function readBlock(block: JsonObject): readonly OutputEvent[] {
  if (block.type === "text") return said("text", block.text);
  if (block.type === "thinking") return [...said("reasoning", block.thinking), ...sealed(block.signature)];
  const data = block.type === "redacted_thinking" ? readText(block.data) : "";
  return data === "" ? [] : [{ kind: "redacted_reasoning", data }];
}

/** Input that came at once, in JSON; "" for none, which a streamed call says as an empty object. */
function readInput(input: unknown): string {
  if (!isSet(input)) return "";
  if (!isJsonObject(input) || isTooDeep(input))
    throw new UpstreamFault("The input of a tool call is no object");
  const json = JSON.stringify(input);
  return json === "{}" ? "" : json;
}

function said(kind: "text" | "reasoning", value: unknown): readonly OutputEvent[] {
  const text = readText(value);
  return text === "" ? [] : [{ kind, text }];
}

function sealed(value: unknown): readonly OutputEvent[] {
  const signature = readText(value);
  return signature === "" ? [] : [{ kind: "reasoning_seal", signature }];
}
