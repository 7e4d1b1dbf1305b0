import type { ToolCallEvent } from "../../../domain/chat-event.ts";
import { parseJsonObject } from "../../json/read.ts";
import type { EchoedTool } from "../../model-request.ts";
import type { OpenItem, Pen, Place } from "./output-item.ts";

/** A call that is being written. */
export interface CallItem extends OpenItem {
  /** Without effect once it is closed. */
  write(json: string): void;
}

/** A call of a function, or of a tool that takes any text: its JSON is unwrapped once it is there. */
export function createCallItem(pen: Pen, call: ToolCallEvent, offered: EchoedTool | undefined): CallItem {
  const isFreeForm = offered?.isFreeForm ?? false;
  const itemAt = describe(call, offered);
  const place = pen.begin(isFreeForm ? "ctc" : "fc", (at) => itemAt(at, "in_progress", ""));
  let json = "";
  let isClosed = false;

  const write = (piece: string): void => {
    if (isClosed || piece === "") return;
    json += piece;
    if (!isFreeForm) pen.say("response.function_call_arguments.delta", { ...place, delta: piece });
  };

  const isObject = () => parseJsonObject(json) !== undefined;

  return {
    write,
    isWhole: isObject,
    close(isCut) {
      const isWhole = !isCut || isObject();
      // Clients parse the arguments of a call, so none become an object; what was cut off stays as it is.
      if (isWhole && json.trim() === "") write("{}");
      isClosed = true;
      const input = isFreeForm ? readFreeText(json) : json;
      if (isFreeForm) sayFreeText(pen, place, input);
      else
        pen.say("response.function_call_arguments.done", {
          ...place,
          name: nameOf(call, offered),
          arguments: input,
        });
      pen.done(place, itemAt(place, isWhole ? "completed" : "incomplete", input));
    },
  };
}

function describe(call: ToolCallEvent, offered: EchoedTool | undefined) {
  const isFreeForm = offered?.isFreeForm ?? false;
  const namespace = offered?.namespace;
  return ({ item_id }: Place, status: string, input: string) => ({
    id: item_id,
    type: isFreeForm ? "custom_tool_call" : "function_call",
    status,
    call_id: call.id,
    name: nameOf(call, offered),
    ...(namespace !== undefined && { namespace }),
    ...(isFreeForm ? { input } : { arguments: input }),
  });
}

function nameOf(call: ToolCallEvent, offered: EchoedTool | undefined): string {
  return offered?.name ?? call.name;
}

function sayFreeText({ say }: Pen, place: Place, input: string): void {
  if (input !== "") say("response.custom_tool_call_input.delta", { ...place, delta: input });
  say("response.custom_tool_call_input.done", { ...place, input });
}

/** The one text in the JSON of a call, under whatever name the model gave it; the JSON itself when there is none. */
function readFreeText(json: string): string {
  const value = parseJsonObject(json);
  if (value === undefined) return json;
  if (typeof value.input === "string") return value.input;
  const [only, ...others] = Object.values(value);
  return typeof only === "string" && others.length === 0 ? only : json;
}
