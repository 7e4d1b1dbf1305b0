import type { OutputEvent } from "../../../domain/chat-event.ts";
import type { Source } from "../../codecs.ts";
import type { JsonObject } from "../../json/read.ts";
import { UpstreamFault } from "../../protocol.ts";
import { readDeltaText, readPlainReasoning } from "../content.ts";
import { encodeHostState, readThoughtSignature } from "../reasoning.ts";
import type { ReasoningDetail } from "../reasoning-details.ts";
import { createDetailReader } from "./seal-details.ts";

/** So often does no model turn from one kind of words to another, and each time begins a block of the answer. */
const PIECES_MAX = 10_000;
/** Nor says one message or delta its reasoning in more details. */
const DETAILS_MAX = 10_000;

/**
 * Reads the words of one answer into events: of each delta, or of the whole message. Media are dropped. What the host
 * wants back is sealed for it.
 */
export function createDeltaReader(source: Source | undefined) {
  const sealer = createDetailReader(source);
  /** Gemini's signature over the message, until it can be said without parting a text. */
  let signature = "";
  let hasText = false;
  /** How much was reasoned since the last seal. */
  let unsealedChars = 0;
  let pieces = 0;
  let latest: OutputEvent["kind"] | undefined;

  /** Some hosts, and we, say a piece of reasoning once more when they seal it. */
  const isRepeat = ({ text, signature }: ReasoningDetail): boolean =>
    signature !== undefined && unsealedChars > 0 && text.length === unsealedChars;

  const readReasoning = (message: JsonObject): OutputEvent[] => {
    const details = sealer.read(message.reasoning_details);
    if (details.length > DETAILS_MAX) throw new UpstreamFault("There are too many details of reasoning");
    if (details.length === 0) return textEvents("reasoning", readDeltaText(message).reasoning);
    const spoken = readPlainReasoning(message);
    const events = details.flatMap((part) =>
      detailEvents(spoken === "" && isRepeat(part) ? { ...part, text: "" } : part),
    );
    const isSaidTwice = events.some(({ kind }) => kind === "reasoning");
    return isSaidTwice ? events : [...textEvents("reasoning", spoken), ...events];
  };

  const takeSignature = (): OutputEvent[] => {
    if (signature === "" || !source) return [];
    const data = encodeHostState(source.origin, { kind: "message", signature });
    signature = "";
    return [{ kind: "redacted_reasoning", data }];
  };

  const note = (event: OutputEvent): void => {
    unsealedChars = event.kind === "reasoning" ? unsealedChars + event.text.length : 0;
    if (event.kind !== latest || !("text" in event)) pieces += 1;
    latest = event.kind;
    if (pieces > PIECES_MAX) throw new UpstreamFault("There are too many blocks");
  };

  return {
    /** `isLast` where calls or the finish follow. Throws {@link UpstreamFault} for more pieces than an answer can have. */
    read(message: JsonObject, isLast: boolean): readonly OutputEvent[] {
      const { text, refusal } = readDeltaText(message);
      signature = readThoughtSignature(message) || signature;
      const leading = hasText ? [] : takeSignature();
      const reasoning = readReasoning(message);
      const isOver = isLast || text !== "" || refusal !== "";
      hasText ||= text !== "" || refusal !== "";
      const events = [
        ...leading,
        ...reasoning,
        ...(isOver ? sealer.close().flatMap(detailEvents) : []),
        ...textEvents("text", text),
        ...textEvents("refusal", refusal),
        ...(isLast ? takeSignature() : []),
      ];
      for (const event of events) note(event);
      return events;
    },
  };
}

function textEvents(kind: "reasoning" | "text" | "refusal", text: string): OutputEvent[] {
  return text === "" ? [] : [{ kind, text }];
}

function detailEvents({ text, signature, redacted }: ReasoningDetail): OutputEvent[] {
  if (redacted !== undefined) return [{ kind: "redacted_reasoning", data: redacted }];
  const said = textEvents("reasoning", text);
  return signature === undefined ? said : [...said, { kind: "reasoning_seal", signature }];
}
