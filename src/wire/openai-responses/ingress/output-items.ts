import { encodeReasoning } from "../items.ts";

/** Sends one event of a stream. For a whole answer it does nothing. */
export type EmitEvent = (type: `response.${string}`, members: object) => void;

/** The position of an item in the output, as the members that name it in events. */
export interface Place {
  readonly output_index: number;
  readonly item_id: string;
}

/** Writes the items of one answer. */
export interface ItemWriter {
  readonly emit: EmitEvent;
  /** Gives an item the next place and emits `output_item.added`. The prefix is that of the item's id. */
  begin(prefix: string, itemAt: (place: Place) => object): Place;
  /** Emits `output_item.done` and keeps the item for the whole output. */
  done(place: Place, item: object): void;
}

export interface OpenItem {
  /** Whether the item is complete as soon as another item begins. */
  isWhole(): boolean;
  /** Emits the rest of the item. Must be called once. `isCutOff` when the answer ended early. */
  close(isCutOff: boolean): void;
}

/** Creates the writer of one answer, and the list of items that it completes, in output order. */
export function createItemWriter(answerId: string, emit: EmitEvent) {
  const items: object[] = [];
  let places = 0;
  const writer: ItemWriter = {
    emit,
    begin(prefix, itemAt) {
      const output_index = places++;
      const place = { output_index, item_id: `${prefix}_${answerId}_${output_index}` };
      emit("response.output_item.added", { output_index, item: itemAt(place) });
      return place;
    },
    done(place, item) {
      items[place.output_index] = item;
      emit("response.output_item.done", { output_index: place.output_index, item });
    },
  };
  return { writer, items };
}

/** An open item for a message, which contains texts and refusals. */
export interface MessageItem extends OpenItem {
  readonly kind: "message";
  write(kind: TextKind, text: string): void;
}

type TextKind = "text" | "refusal";
type ContentPart =
  | { readonly type: "output_text"; text: string; readonly annotations: []; readonly logprobs: [] }
  | { readonly type: "refusal"; refusal: string };

/** Begins the item of a message. */
export function createMessageItem({ begin, emit, done }: ItemWriter): MessageItem {
  const content: ContentPart[] = [];
  const place = begin("msg", (at) => messageItem(at, "in_progress", content));
  const partPlace = () => ({ ...place, content_index: content.length - 1 });

  const openPart = (kind: TextKind): ContentPart => {
    const part: ContentPart =
      kind === "text"
        ? { type: "output_text", text: "", annotations: [], logprobs: [] }
        : { type: "refusal", refusal: "" };
    content.push(part);
    emit("response.content_part.added", { ...partPlace(), part });
    return part;
  };

  const closePart = (): void => {
    const part = content.at(-1);
    if (!part) return;
    const whole = part.type === "refusal" ? { refusal: part.refusal } : { text: part.text, logprobs: [] };
    emit(`response.${part.type}.done`, { ...partPlace(), ...whole });
    emit("response.content_part.done", { ...partPlace(), part });
  };

  /** Returns the last part if it has this kind, and otherwise closes it and opens another. */
  const partFor = (kind: TextKind): ContentPart => {
    const last = content.at(-1);
    if (last?.type === (kind === "text" ? "output_text" : "refusal")) return last;
    closePart();
    return openPart(kind);
  };

  return {
    kind: "message",
    write(kind, text) {
      const part = partFor(kind);
      if (part.type === "refusal") part.refusal += text;
      else part.text += text;
      const logprobs = part.type === "refusal" ? {} : { logprobs: [] };
      emit(`response.${part.type}.delta`, { ...partPlace(), delta: text, ...logprobs });
    },
    isWhole: () => true,
    close(isCutOff) {
      closePart();
      done(place, messageItem(place, isCutOff ? "incomplete" : "completed", content));
    },
  };
}

function messageItem({ item_id }: Place, status: string, content: readonly ContentPart[]) {
  return { id: item_id, type: "message", status, role: "assistant", content };
}

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
