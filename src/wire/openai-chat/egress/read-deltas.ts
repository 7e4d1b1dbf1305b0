import type { OutputEvent } from "../../../domain/chat-event.ts";
import type { Source } from "../../format.ts";
import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../../json/read.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import { readDeltaText, readPlainReasoning } from "../chunk.ts";
import {
  encodeHostState,
  isAnthropicFormat,
  isFilledDetail,
  pickDetail,
  type ReasoningDetail,
  readDetail,
  readThoughtSignature,
} from "../reasoning.ts";

/** Bound of the changes between kinds of output in one answer. Each change begins a block for the client. */
const BLOCKS_MAX = 10_000;
/** Bound of the `reasoning_details` in one message or delta. */
const DETAILS_MAX = 10_000;

/**
 * Reads the texts of one answer, each delta or the whole message, into events. Drops media. Signatures that a
 * host expects back are encoded for that host.
 */
export function createDeltaReader(source: Source | undefined) {
  const detailReader = createDetailReader(source);
  const messageSignature = createMessageSignature(source);
  let hasText = false;
  /** Characters of reasoning since the last signature. */
  let unsignedChars = 0;
  let blocks = 0;
  let latest: OutputEvent["kind"] | undefined;

  /** Some hosts, and this gateway, repeat the text of a block together with its signature. */
  const isRepeated = (detail: ReasoningDetail): boolean =>
    detail.signature !== undefined && unsignedChars > 0 && detail.text.length === unsignedChars;

  const readReasoning = (message: JsonObject): OutputEvent[] => {
    const details = detailReader.read(message.reasoning_details);
    if (details.length > DETAILS_MAX) throw new UpstreamFault("There are too many details of reasoning");
    if (details.length === 0) return textEvents("reasoning", readDeltaText(message).reasoning);
    const plain = readPlainReasoning(message);
    const events = details.flatMap((detail) =>
      detailEvents(plain === "" && isRepeated(detail) ? { ...detail, text: "" } : detail),
    );
    const hasReasoning = events.some(({ kind }) => kind === "reasoning");
    return hasReasoning ? events : [...textEvents("reasoning", plain), ...events];
  };

  const countBlocks = (event: OutputEvent): void => {
    unsignedChars = event.kind === "reasoning" ? unsignedChars + event.text.length : 0;
    if (event.kind !== latest || !("text" in event)) blocks += 1;
    latest = event.kind;
    if (blocks > BLOCKS_MAX) throw new UpstreamFault("There are too many blocks");
  };

  return {
    /**
     * Reads one delta. `isLast` means that calls or the finish follow. Throws {@link UpstreamFault} above the
     * bounds.
     */
    read(message: JsonObject, isLast: boolean): readonly OutputEvent[] {
      const { text, refusal } = readDeltaText(message);
      messageSignature.read(message);
      const leading = hasText ? [] : messageSignature.take();
      const reasoning = readReasoning(message);
      const endsReasoning = isLast || text !== "" || refusal !== "";
      hasText ||= text !== "" || refusal !== "";
      const events = [
        ...leading,
        ...reasoning,
        ...(endsReasoning ? detailReader.close().flatMap(detailEvents) : []),
        ...textEvents("text", text),
        ...textEvents("refusal", refusal),
        ...(isLast ? messageSignature.take() : []),
      ];
      for (const event of events) countBlocks(event);
      return events;
    },
  };
}

/** Holds back Gemini's signature of a message until its event does not split a text. */
function createMessageSignature(source: Source | undefined) {
  let signature = "";
  return {
    read(message: JsonObject): void {
      signature = readThoughtSignature(message) || signature;
    },
    take(): OutputEvent[] {
      if (signature === "" || !source) return [];
      const data = encodeHostState(source.origin, { kind: "message", signature });
      signature = "";
      return [{ kind: "redacted_reasoning", data }];
    },
  };
}

function textEvents(kind: "reasoning" | "text" | "refusal", text: string): OutputEvent[] {
  return text === "" ? [] : [{ kind, text }];
}

function detailEvents({ text, signature, redacted }: ReasoningDetail): OutputEvent[] {
  if (redacted !== undefined) return [{ kind: "redacted_reasoning", data: redacted }];
  const events = textEvents("reasoning", text);
  return signature === undefined ? events : [...events, { kind: "reasoning_signature", signature }];
}

/** Members that identify a block of reasoning while it is streamed. */
const BLOCK_MEMBERS = ["type", "format", "index"];

/**
 * Reads the `reasoning_details` of one answer. Signatures by an Anthropic model are kept unchanged.
 * Signatures and encrypted reasoning of other hosts are encoded for the host they came from, and dropped
 * without a source.
 *
 * @see https://openrouter.ai/docs/guides/best-practices/reasoning-tokens
 */
function createDetailReader(source: Source | undefined) {
  /** The members to send back of a block that is not signed yet. */
  let open: JsonObject | undefined;

  const encode = (origin: string, detail: JsonObject): string =>
    encodeHostState(origin, { kind: "detail", detail: pickDetail(detail) });

  const close = (): readonly ReasoningDetail[] => {
    const closed = open;
    open = undefined;
    if (!closed || !source) return [];
    return [{ text: "", signature: encode(source.origin, closed), redacted: undefined }];
  };

  const readForHost = (detail: JsonObject, { origin }: Source): readonly ReasoningDetail[] => {
    if (detail.type === "reasoning.encrypted") {
      const redacted = readText(detail.data) === "" ? undefined : encode(origin, detail);
      return [...close(), { text: "", signature: undefined, redacted }];
    }
    const closed = open && !isOfBlock(open, detail) ? close() : [];
    const block = { ...open, ...pickDetail(detail) };
    const isSigned = readText(detail.signature) !== "";
    open = !isSigned && isOfKnownHost(detail) ? block : undefined;
    const { text } = readDetail(detail);
    const signature = isSigned ? encode(origin, block) : undefined;
    return [...closed, { text, signature, redacted: undefined }];
  };

  const readOne = (detail: JsonObject): readonly ReasoningDetail[] => {
    if (!source || (source.isClaude && isAnthropicFormat(detail))) return [readDetail(detail)];
    return readForHost(detail, source);
  };

  return {
    read: (details: unknown): readonly ReasoningDetail[] =>
      readArray(details).filter(isJsonObject).flatMap(readOne).filter(isFilledDetail),
    /** Ends the open block and returns its encoded state, if a block is open. */
    close,
  };
}

function isOfBlock(open: JsonObject, detail: JsonObject): boolean {
  return BLOCK_MEMBERS.every((name) => (open[name] ?? null) === (detail[name] ?? null));
}

/** Returns whether a host expects an unsigned block back. */
function isOfKnownHost(detail: JsonObject): boolean {
  return isSet(detail.format) && detail.format !== "unknown" && !isAnthropicFormat(detail);
}
