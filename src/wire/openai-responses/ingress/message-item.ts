import type { ItemWriter, OpenItem, Place } from "./output-item.ts";

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
