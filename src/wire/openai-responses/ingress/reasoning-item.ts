import { encodeReasoning } from "../encrypted-reasoning.ts";
import type { ItemWriter, OpenItem, Place } from "./output-item.ts";

/** An open item for reasoning. */
export interface ReasoningItem extends OpenItem {
  readonly kind: "reasoning";
  write(text: string): void;
  sign(signature: string): void;
}

/** What the client wants to receive of reasoning. */
interface Wanted {
  /** The text, as a summary. */
  readonly isReasoningShown: boolean;
  /** Encrypted content, which the client can send back. */
  readonly wantsEncrypted: boolean;
}

/**
 * Creates the item of a piece of reasoning. Its text is emitted as a summary while it arrives, and its
 * encrypted content once its provider has signed it. The item is not emitted when the client wants neither.
 */
export function createReasoningItem(
  writer: ItemWriter,
  { isReasoningShown, wantsEncrypted }: Wanted,
): ReasoningItem {
  let text = "";
  let signature = "";
  let place: Place | undefined;

  return {
    kind: "reasoning",
    write(delta) {
      text += delta;
      if (!isReasoningShown || delta === "") return;
      place ??= beginSummary(writer);
      writer.emit("response.reasoning_summary_text.delta", { ...place, summary_index: 0, delta });
    },
    sign(given) {
      signature = given;
    },
    isWhole: () => true,
    close(isCutOff) {
      const encrypted = wantsEncrypted && signature !== "" ? encodeReasoning({ text, signature }) : undefined;
      if (place) endSummary(writer, place, text);
      else if (encrypted === undefined) return;
      const summary = place ? [summaryPart(text)] : [];
      const at = place ?? beginItem(writer);
      const status = isCutOff ? "incomplete" : "completed";
      writer.done(at, reasoningItem(at, { status, summary, encrypted }));
    },
  };
}

/** Writes a whole item for reasoning that only its provider can read. */
export function writeRedacted(writer: ItemWriter, data: string): void {
  const place = beginItem(writer);
  const encrypted = encodeReasoning({ data });
  writer.done(place, reasoningItem(place, { status: "completed", summary: [], encrypted }));
}

function beginItem({ begin }: ItemWriter): Place {
  return begin("rs", (at) => reasoningItem(at, { status: "in_progress", summary: [], encrypted: undefined }));
}

function beginSummary(writer: ItemWriter): Place {
  const place = beginItem(writer);
  const part = summaryPart("");
  writer.emit("response.reasoning_summary_part.added", { ...place, summary_index: 0, part });
  return place;
}

function endSummary({ emit }: ItemWriter, place: Place, text: string): void {
  const at = { ...place, summary_index: 0 };
  emit("response.reasoning_summary_text.done", { ...at, text });
  emit("response.reasoning_summary_part.done", { ...at, part: summaryPart(text) });
}

function summaryPart(text: string) {
  return { type: "summary_text", text };
}

interface ItemState {
  readonly status: string;
  readonly summary: readonly object[];
  readonly encrypted: string | undefined;
}

function reasoningItem({ item_id }: Place, { status, summary, encrypted }: ItemState) {
  const content = encrypted === undefined ? {} : { encrypted_content: encrypted };
  return { id: item_id, type: "reasoning", status, summary, ...content };
}
