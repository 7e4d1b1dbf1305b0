import type { OutputEvent, ToolCallEvent } from "../../../domain/chat-event.ts";
import type { ReplyHead } from "../../codecs.ts";
import { isHostReasoning } from "../../host-reasoning.ts";
import { createCallIds } from "../../identifiers.ts";
import type { EchoedFields } from "../../model-request.ts";
import { type CallItem, createCallItem } from "./call-item.ts";
import { createMessageItem, type MessageItem } from "./message-item.ts";
import type { OpenItem, Pen, Say } from "./output-item.ts";
import { createReasoningItem, type ReasoningItem, writeRedacted } from "./reasoning-item.ts";

/** What an answer puts out, made into items while it comes. */
export interface Output {
  add(event: OutputEvent): void;
  /** Says the end of what is still open. `isCut` when the answer ended before its time. Gives all items, in order. */
  end(isCut: boolean): readonly object[];
}

/** Each event of an item is said as it happens. */
export function createOutput(head: ReplyHead, asked: EchoedFields, say: Say): Output {
  const { id, isReasoningShown } = head;
  const { includesEncryptedReasoning } = asked;
  const { pen, items } = createPen(id, say);
  /** In their order. Several only when calls come interleaved. */
  const open: OpenItem[] = [];
  const calls: CallItem[] = [];
  const callIdOf = createCallIds((count) => `call_${id}_${count}`);
  /** What a host wants back with its calls, for a client that has not asked for it: results would be refused without. */
  const withheld: string[] = [];
  let words: MessageItem | ReasoningItem | undefined;
  let latest: OpenItem | undefined;

  const begin = <Item extends OpenItem>(item: Item): Item => {
    open.push(item);
    latest = item;
    return item;
  };

  /** Before something else begins: the latest item is closed unless more of it may come. Each is asked once. */
  const leave = (): void => {
    const item = latest;
    latest = undefined;
    words = undefined;
    if (item?.isWhole()) open.pop()?.close(false);
  };

  const message = (): MessageItem => {
    if (words?.kind === "message") return words;
    leave();
    const item = begin(createMessageItem(pen));
    words = item;
    return item;
  };

  const reasoning = (): ReasoningItem => {
    if (words?.kind === "reasoning") return words;
    leave();
    const item = begin(createReasoningItem(pen, { isReasoningShown, includesEncryptedReasoning }));
    words = item;
    return item;
  };

  const addRedacted = (data: string): void => {
    if (!includesEncryptedReasoning && isHostReasoning(data)) {
      withheld.push(data);
      return;
    }
    leave();
    if (includesEncryptedReasoning) writeRedacted(pen, data);
  };

  const giveWithheld = (): void => {
    for (const data of withheld.splice(0)) writeRedacted(pen, data);
  };

  const beginCall = (call: ToolCallEvent): void => {
    leave();
    giveWithheld();
    const named = { ...call, id: callIdOf(call.id) };
    calls[call.call] = begin(createCallItem(pen, named, asked.tools.get(call.name)));
  };

  const add = (event: OutputEvent): void => {
    if (event.kind === "tool_call") beginCall(event);
    else if (event.kind === "tool_input") calls[event.call]?.write(event.json);
    else if (event.kind === "reasoning") reasoning().write(event.text);
    else if (event.kind === "reasoning_seal") {
      reasoning().seal(event.signature);
      leave();
    } else if (event.kind === "redacted_reasoning") addRedacted(event.data);
    else if (event.text !== "") message().write(event.kind, event.text);
  };

  return {
    add,
    end(isCut) {
      if (calls.length > 0) giveWithheld();
      for (const item of open.splice(0)) item.close(isCut);
      return items;
    },
  };
}

function createPen(id: string, say: Say) {
  const items: object[] = [];
  let places = 0;
  const pen: Pen = {
    say,
    begin(prefix, itemAt) {
      const output_index = places++;
      const place = { output_index, item_id: `${prefix}_${id}_${output_index}` };
      say("response.output_item.added", { output_index, item: itemAt(place) });
      return place;
    },
    done(place, item) {
      items[place.output_index] = item;
      say("response.output_item.done", { output_index: place.output_index, item });
    },
  };
  return { pen, items };
}
