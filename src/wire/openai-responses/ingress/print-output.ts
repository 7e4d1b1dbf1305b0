import type { OutputEvent, ToolCallEvent } from "../../../domain/chat-event.ts";
import type { ReplyHead } from "../../format.ts";
import { isHostReasoning } from "../../host-reasoning.ts";
import { createCallIds } from "../../identifiers.ts";
import { parseJsonObject } from "../../json/read.ts";
import type { EchoedFields, EchoedTool } from "../../model-request.ts";
import { printCompaction } from "../items.ts";
import {
  createItemWriter,
  createMessageItem,
  createReasoningItem,
  type EmitEvent,
  type ItemWriter,
  type MessageItem,
  type OpenItem,
  type Place,
  type ReasoningItem,
  writeRedacted,
} from "./output-items.ts";

/** Turns the output of a model into the items of a response, event by event. */
interface OutputPrinter {
  add(event: OutputEvent): void;
  /** Closes the open items and returns all items in order. `isCutOff` when the answer ended early. */
  end(isCutOff: boolean): readonly object[];
}

/**
 * Creates the printer of one answer, which calls `emit` for every stream event of its items.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export function createOutputPrinter(head: ReplyHead, echoed: EchoedFields, emit: EmitEvent): OutputPrinter {
  return echoed.isCompaction ? createCompactionPrinter(head, emit) : createItemPrinter(head, echoed, emit);
}

/** Collects the text of an answer into one item. Clients accept no other item beside it. */
function createCompactionPrinter({ id }: ReplyHead, emit: EmitEvent): OutputPrinter {
  const { writer, items } = createItemWriter(id, emit);
  let summary = "";
  return {
    add(event) {
      if (event.kind === "text") summary += event.text;
    },
    end() {
      const place = writer.begin("cmp", ({ item_id }) => printCompaction(item_id, ""));
      writer.done(place, printCompaction(place.item_id, summary));
      return items;
    },
  };
}

function createItemPrinter(head: ReplyHead, echoed: EchoedFields, emit: EmitEvent): OutputPrinter {
  const { id, isReasoningShown } = head;
  const { includesEncryptedReasoning: wantsEncrypted } = echoed;
  const { writer, items } = createItemWriter(id, emit);
  /** Open items in order. More than one only while calls arrive interleaved. */
  const open: OpenItem[] = [];
  const calls: CallItem[] = [];
  const callIdOf = createCallIds((count) => `call_${id}_${count}`);
  /** Data that a host needs back with its calls, for a client that did not ask for it. */
  const withheld: string[] = [];
  let latestText: MessageItem | ReasoningItem | undefined;
  let latest: OpenItem | undefined;

  const begin = <Item extends OpenItem>(item: Item): Item => {
    open.push(item);
    latest = item;
    return item;
  };

  /** Closes the latest item before another begins, unless it may continue. Checks each item once. */
  const closeLatest = (): void => {
    const item = latest;
    latest = undefined;
    latestText = undefined;
    if (item?.isWhole()) open.pop()?.close(false);
  };

  const openMessage = (): MessageItem => {
    if (latestText?.kind === "message") return latestText;
    closeLatest();
    const item = begin(createMessageItem(writer));
    latestText = item;
    return item;
  };

  const openReasoning = (): ReasoningItem => {
    if (latestText?.kind === "reasoning") return latestText;
    closeLatest();
    const item = begin(createReasoningItem(writer, { isReasoningShown, wantsEncrypted }));
    latestText = item;
    return item;
  };

  const addRedacted = (data: string): void => {
    if (!wantsEncrypted && isHostReasoning(data)) {
      withheld.push(data);
      return;
    }
    closeLatest();
    if (wantsEncrypted) writeRedacted(writer, data);
  };

  const writeWithheld = (): void => {
    for (const data of withheld.splice(0)) writeRedacted(writer, data);
  };

  const beginCall = (call: ToolCallEvent): void => {
    closeLatest();
    writeWithheld();
    const named = { ...call, id: callIdOf(call.id) };
    calls[call.call] = begin(createCallItem(writer, named, echoed.tools.get(call.name)));
  };

  const add = (event: OutputEvent): void => {
    if (event.kind === "tool_call") beginCall(event);
    else if (event.kind === "tool_input") calls[event.call]?.write(event.json);
    else if (event.kind === "reasoning") openReasoning().write(event.text);
    else if (event.kind === "reasoning_signature") {
      openReasoning().sign(event.signature);
      closeLatest();
    } else if (event.kind === "redacted_reasoning") addRedacted(event.data);
    else if (event.text !== "") openMessage().write(event.kind, event.text);
  };

  return {
    add,
    end(isCutOff) {
      if (calls.length > 0) writeWithheld();
      for (const item of open.splice(0)) item.close(isCutOff);
      return items;
    },
  };
}

interface CallItem extends OpenItem {
  /** Adds a piece of the input, in JSON. Without effect once the item is closed. */
  write(json: string): void;
}

/**
 * Begins the item of a function call or of a free-form call. Closing a free-form call unwraps its text.
 */
function createCallItem(writer: ItemWriter, call: ToolCallEvent, tool: EchoedTool | undefined): CallItem {
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
