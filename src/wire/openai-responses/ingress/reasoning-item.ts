import type { Asked, ReplyHead } from "../../codecs.ts";
import { printSeal } from "../encrypted-reasoning.ts";
import type { OpenItem, Pen, Place } from "./output-item.ts";

/** A piece of reasoning that is being written: shown as a summary, or kept until its provider has sealed it. */
export interface ReasoningItem extends OpenItem {
  readonly kind: "reasoning";
  write(text: string): void;
  seal(signature: string): void;
}

type Wishes = Pick<ReplyHead, "isReasoningShown"> & Pick<Asked, "sealsReasoning">;

/** A client that wants neither the summary nor the seal sees nothing of it. */
export function createReasoningItem(pen: Pen, { isReasoningShown, sealsReasoning }: Wishes): ReasoningItem {
  let text = "";
  let signature = "";
  let place: Place | undefined;

  return {
    kind: "reasoning",
    write(delta) {
      text += delta;
      if (!isReasoningShown || delta === "") return;
      place ??= beginSummary(pen);
      pen.say("response.reasoning_summary_text.delta", { ...place, summary_index: 0, delta });
    },
    seal(given) {
      signature = given;
    },
    isWhole: () => true,
    close(isCut) {
      const seal = sealsReasoning && signature !== "" ? printSeal({ text, signature }) : undefined;
      if (place) endSummary(pen, place, text);
      else if (seal === undefined) return;
      const summary = place ? [summaryPart(text)] : [];
      const at = place ?? beginItem(pen);
      pen.done(at, reasoningItem(at, { status: isCut ? "incomplete" : "completed", summary, seal }));
    },
  };
}

/** Writes reasoning that only its provider can read: it is there at once. */
export function writeRedacted(pen: Pen, data: string): void {
  const place = beginItem(pen);
  pen.done(place, reasoningItem(place, { status: "completed", summary: [], seal: printSeal({ data }) }));
}

function beginItem({ begin }: Pen): Place {
  return begin("rs", (at) => reasoningItem(at, { status: "in_progress", summary: [], seal: undefined }));
}

function beginSummary(pen: Pen): Place {
  const place = beginItem(pen);
  pen.say("response.reasoning_summary_part.added", { ...place, summary_index: 0, part: summaryPart("") });
  return place;
}

function endSummary({ say }: Pen, place: Place, text: string): void {
  const at = { ...place, summary_index: 0 };
  say("response.reasoning_summary_text.done", { ...at, text });
  say("response.reasoning_summary_part.done", { ...at, part: summaryPart(text) });
}

function summaryPart(text: string) {
  return { type: "summary_text", text };
}

function reasoningItem(
  { item_id }: Place,
  {
    status,
    summary,
    seal,
  }: { readonly status: string; readonly summary: readonly object[]; readonly seal: string | undefined },
) {
  const sealed = seal === undefined ? {} : { encrypted_content: seal };
  return { id: item_id, type: "reasoning", status, summary, ...sealed };
}
