import type { Source } from "../../codecs.ts";
import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../../json/read.ts";
import { encodeHostState, pickDetail } from "../reasoning.ts";
import { isAnthropicFormat, isFilledDetail, type ReasoningDetail, readDetail } from "../reasoning-details.ts";

/** A piece of reasoning that its host has not signed yet, as far as it goes back. */
type OpenPiece = JsonObject;

/** What tells one piece of reasoning from the next, as it is streamed. */
const PIECE_MEMBERS = ["type", "format", "index"];

/**
 * Follows the `reasoning_details` of one answer. What Anthropic's models sign stays as it is where such a model
 * answers; what others sign or encrypt is sealed for the host that gave it, and dropped where that is not known.
 * @see https://openrouter.ai/docs/guides/best-practices/reasoning-tokens
 */
export function createDetailReader(source: Source | undefined) {
  let open: OpenPiece | undefined;

  const seal = (origin: string, detail: JsonObject): string =>
    encodeHostState(origin, { kind: "detail", detail: pickDetail(detail) });

  const close = (): readonly ReasoningDetail[] => {
    const closed = open;
    open = undefined;
    if (!closed || !source) return [];
    return [{ text: "", signature: seal(source.origin, closed), redacted: undefined }];
  };

  const readSealed = (detail: JsonObject, { origin }: Source): readonly ReasoningDetail[] => {
    if (detail.type === "reasoning.encrypted") {
      const redacted = readText(detail.data) === "" ? undefined : seal(origin, detail);
      return [...close(), { text: "", signature: undefined, redacted }];
    }
    const left = open && !isOfPiece(open, detail) ? close() : [];
    const piece = { ...open, ...pickDetail(detail) };
    const isSigned = readText(detail.signature) !== "";
    open = !isSigned && isOfKnownHost(detail) ? piece : undefined;
    const { text } = readDetail(detail);
    return [...left, { text, signature: isSigned ? seal(origin, piece) : undefined, redacted: undefined }];
  };

  const readOne = (detail: JsonObject): readonly ReasoningDetail[] => {
    if (!source || (source.isClaude && isAnthropicFormat(detail))) return [readDetail(detail)];
    return readSealed(detail, source);
  };

  return {
    read: (details: unknown): readonly ReasoningDetail[] =>
      readArray(details).filter(isJsonObject).flatMap(readOne).filter(isFilledDetail),
    /** The seal of the piece that has come last, if it has none: nothing more belongs to it. */
    close,
  };
}

function isOfPiece(open: OpenPiece, detail: JsonObject): boolean {
  return PIECE_MEMBERS.every((name) => (open[name] ?? null) === (detail[name] ?? null));
}

/** Whether a host wants a piece back that it has not signed. */
function isOfKnownHost(detail: JsonObject): boolean {
  return isSet(detail.format) && detail.format !== "unknown" && !isAnthropicFormat(detail);
}
