import type { ToolCallEvent } from "../../../domain/chat-event.ts";
import { parseJsonObject } from "../../json/read.ts";
import type { EchoedTool } from "../../model-request.ts";
import type { ItemWriter, OpenItem, Place } from "./output-items.ts";

/** An open item for a tool call. */
export interface CallItem extends OpenItem {
  /** Adds a piece of the input, in JSON. Without effect once the item is closed. */
  write(json: string): void;
}

/**
 * Begins the item of a function call or of a free-form call. Closing a free-form call unwraps its text.
 */
export function createCallItem(
  writer: ItemWriter,
  call: ToolCallEvent,
  tool: EchoedTool | undefined,
): CallItem {
  const isFreeForm = tool?.isFreeForm ?? false;
  const itemAt = describeItem(call, tool);
  const place = writer.begin(isFreeForm ? "ctc" : "fc", (at) => itemAt(at, "in_progress", ""));
  let json = "";
  let isClosed = false;

  const write = (piece: string): void => {
    if (isClosed || piece === "") return;
    json += piece;
    if (!isFreeForm) writer.emit("response.function_call_arguments.delta", { ...place, delta: piece });
  };

  const isObject = () => parseJsonObject(json) !== undefined;

  return {
    write,
    isWhole: isObject,
    close(isCutOff) {
      const isWhole = !isCutOff || isObject();
      // Clients parse the arguments, so an empty input becomes "{}". A partial input is sent unchanged.
      if (isWhole && json.trim() === "") write("{}");
      isClosed = true;
      const input = isFreeForm ? readFreeText(json) : json;
      if (isFreeForm) emitFreeText(writer, place, input);
      else
        writer.emit("response.function_call_arguments.done", {
          ...place,
          name: nameOf(call, tool),
          arguments: input,
        });
      writer.done(place, itemAt(place, isWhole ? "completed" : "incomplete", input));
    },
  };
}

function describeItem(call: ToolCallEvent, tool: EchoedTool | undefined) {
  const isFreeForm = tool?.isFreeForm ?? false;
  const namespace = tool?.namespace;
  return ({ item_id }: Place, status: string, input: string) => ({
    id: item_id,
    type: isFreeForm ? "custom_tool_call" : "function_call",
    status,
    call_id: call.id,
    name: nameOf(call, tool),
    ...(namespace !== undefined && { namespace }),
    ...(isFreeForm ? { input } : { arguments: input }),
  });
}

function nameOf(call: ToolCallEvent, tool: EchoedTool | undefined): string {
  return tool?.name ?? call.name;
}

function emitFreeText({ emit }: ItemWriter, place: Place, input: string): void {
  if (input !== "") emit("response.custom_tool_call_input.delta", { ...place, delta: input });
  emit("response.custom_tool_call_input.done", { ...place, input });
}

/** Returns the text inside the JSON of a call: the member `input`, or the only member, or all of the JSON. */
function readFreeText(json: string): string {
  const value = parseJsonObject(json);
  if (value === undefined) return json;
  if (typeof value.input === "string") return value.input;
  const [only, ...others] = Object.values(value);
  return typeof only === "string" && others.length === 0 ? only : json;
}
