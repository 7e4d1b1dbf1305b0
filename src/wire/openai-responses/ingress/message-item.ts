import type { OpenItem, Pen, Place } from "./output-item.ts";

/** A message that is being written: texts and refusals, one after the other. */
export interface MessageItem extends OpenItem {
  readonly kind: "message";
  write(kind: Words, text: string): void;
}

type Words = "text" | "refusal";
type ContentPart =
  | { readonly type: "output_text"; text: string; readonly annotations: []; readonly logprobs: [] }
  | { readonly type: "refusal"; refusal: string };

export function createMessageItem({ begin, say, done }: Pen): MessageItem {
  const content: ContentPart[] = [];
  const place = begin("msg", (at) => messageItem(at, "in_progress", content));
  const partPlace = () => ({ ...place, content_index: content.length - 1 });

  const openPart = (kind: Words): ContentPart => {
    const part: ContentPart =
      kind === "text"
        ? { type: "output_text", text: "", annotations: [], logprobs: [] }
        : { type: "refusal", refusal: "" };
    content.push(part);
    say("response.content_part.added", { ...partPlace(), part });
    return part;
  };

  const closePart = (): void => {
    const part = content.at(-1);
    if (!part) return;
    const whole = part.type === "refusal" ? { refusal: part.refusal } : { text: part.text, logprobs: [] };
    say(`response.${part.type}.done`, { ...partPlace(), ...whole });
    say("response.content_part.done", { ...partPlace(), part });
  };

  const partFor = (kind: Words): ContentPart => {
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
      say(`response.${part.type}.delta`, { ...partPlace(), delta: text, ...logprobs });
    },
    isWhole: () => true,
    close(isCut) {
      closePart();
      done(place, messageItem(place, isCut ? "incomplete" : "completed", content));
    },
  };
}

function messageItem({ item_id }: Place, status: string, content: readonly ContentPart[]) {
  return { id: item_id, type: "message", status, role: "assistant", content };
}
