import type { Part, ReasoningPart, ToolCallPart } from "../../domain/chat-request.ts";
import { createHostReasoningDecoder, encodeHostReasoning, isHostReasoning } from "../host-reasoning.ts";
import { shortenIdentifier } from "../identifiers.ts";
import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../json/read.ts";
import { textOfPart } from "./chunk.ts";

/** One entry of `reasoning_details`: a text with its signature, or encrypted reasoning in place of a text. */
export type ReasoningDetail = Omit<ReasoningPart, "kind">;

/** The `format` of signatures by Anthropic's models. No other provider can use them. */
const ANTHROPIC_FORMAT = "anthropic-claude-v1";

/**
 * Reads the `reasoning_details` that a client sends back. Joins the streamed pieces of each block.
 *
 * @see https://openrouter.ai/docs/guides/best-practices/reasoning-tokens
 */
export function joinReasoningDetails(details: unknown): readonly ReasoningPart[] {
  const blocks: ReasoningPart[] = [];
  let latestIndex: unknown;
  for (const detail of readArray(details).filter(isJsonObject)) {
    const part: ReasoningPart = { kind: "reasoning", ...readDetail(detail) };
    const last = blocks.at(-1);
    const isOpen = last && last.signature === undefined && last.redacted === undefined;
    const continues = isOpen && part.redacted === undefined && detail.index === latestIndex;
    if (continues) blocks[blocks.length - 1] = { ...part, text: last.text + part.text };
    else blocks.push(part);
    latestIndex = detail.index;
  }
  return blocks.filter(isFilledDetail);
}

/** Prints one entry of `reasoning_details` for signed or encrypted reasoning of an Anthropic model. */
export function printReasoningDetail(detail: ReasoningDetail, index: number): object {
  const { text, signature, redacted } = detail;
  if (redacted !== undefined) {
    return { type: "reasoning.encrypted", data: redacted, format: ANTHROPIC_FORMAT, index };
  }
  return { type: "reasoning.text", text, signature, format: ANTHROPIC_FORMAT, index };
}

/** Returns whether Anthropic can read the signature of an entry. A missing format counts as Anthropic's. */
export function isAnthropicFormat({ format }: JsonObject): boolean {
  return !isSet(format) || readText(format).startsWith("anthropic");
}

/** Reads one entry of `reasoning_details`. Drops signatures and encrypted reasoning of other formats. */
export function readDetail(detail: JsonObject): ReasoningDetail {
  const isAnthropic = isAnthropicFormat(detail);
  const readSigned = (value: unknown) => (isAnthropic ? readText(value) : "") || undefined;
  if (detail.type === "reasoning.encrypted") {
    return { text: "", signature: undefined, redacted: readSigned(detail.data) };
  }
  return { text: textOfPart(detail), signature: readSigned(detail.signature), redacted: undefined };
}

export function isFilledDetail({ text, signature, redacted }: ReasoningDetail): boolean {
  return text !== "" || signature !== undefined || redacted !== undefined;
}

/** State that a host expects back with an assistant message. The text of reasoning is carried separately. */
type HostState =
  /** An entry of OpenRouter's `reasoning_details`. */
  | { readonly kind: "detail"; readonly detail: JsonObject }
  /** Gemini's signature of a message. */
  | { readonly kind: "message"; readonly signature: string }
  /** Gemini's signature of a tool call, identified by its id. */
  | { readonly kind: "call"; readonly signature: string; readonly id: string };

/** Members of an entry that are sent back; `text` and `summary` are not among them. */
const DETAIL_MEMBERS = ["type", "id", "format", "index", "signature", "data"];
const DETAIL_TYPE = /^reasoning\.\w{1,32}$/;

export function encodeHostState(origin: string, state: HostState): string {
  return encodeHostReasoning(origin, { ...state });
}

/** Decodes host state. Returns `undefined` for state of another origin and for malformed state. */
type DecodeHostState = (text: string) => HostState | undefined;

/** Creates the decoder of one origin; without an origin, nothing is decoded. */
export function createHostStateDecoder(origin: string | undefined): DecodeHostState {
  if (origin === undefined) return () => undefined;
  const decode = createHostReasoningDecoder(origin);
  return (text) => checkState(decode(text) ?? {});
}

function checkState({ kind, signature, id, detail }: JsonObject): HostState | undefined {
  if (kind === "detail") return checkDetail(detail);
  if (typeof signature !== "string" || signature === "") return undefined;
  if (kind === "message") return { kind, signature };
  return kind === "call" && typeof id === "string" ? { kind, signature, id } : undefined;
}

function checkDetail(detail: unknown): HostState | undefined {
  if (!isJsonObject(detail) || !DETAIL_TYPE.test(readText(detail.type))) return undefined;
  return { kind: "detail", detail: pickDetail(detail) };
}

/** Returns the members of an entry that are sent back. */
export function pickDetail(detail: JsonObject): JsonObject {
  const kept = DETAIL_MEMBERS.filter((name) => isPlain(detail[name])).map((name) => [name, detail[name]]);
  return Object.fromEntries(kept);
}

function isPlain(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}

/**
 * Reads the signature that Gemini's OpenAI-compatible hosts put on a message, a delta or a call; "" for none.
 *
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export function readThoughtSignature({ extra_content: extra }: JsonObject): string {
  const google = isJsonObject(extra) ? extra.google : undefined;
  return isJsonObject(google) ? readText(google.thought_signature) : "";
}

/** Prints Gemini's signature as the member `extra_content`; an empty object without a signature. */
function printThoughtSignature(signature: string | undefined) {
  return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}

/** Longest id of a tool call that all hosts accept, in characters. */
export const ID_CHARS_MAX = 40;

/** The host that an assistant message is printed for. */
export interface Host {
  readonly decode: DecodeHostState;
  /** Whether its model can read Anthropic's signatures. */
  readonly isClaude: boolean;
}

interface PrintedState {
  /** Members of the message. */
  readonly members: object;
  /** Returns the members of one of its calls. */
  membersOf(call: ToolCallPart): object;
}

const NO_STATE: PrintedState = { members: {}, membersOf: () => ({}) };

/** Prints the state that a host expects back with its own earlier answer: reasoning and signatures. */
export function printHostState(parts: readonly Part[], host: Host): PrintedState {
  const reasoning = parts.filter((part) => part.kind === "reasoning");
  if (reasoning.length === 0) return NO_STATE;
  const ids = new Set(parts.flatMap((part) => (part.kind === "tool_call" ? [part.id] : [])));
  const details: object[] = [];
  const callSignatures = new Map<string, string>();
  let messageSignature: string | undefined;
  for (const part of reasoning) {
    const encoded = part.redacted ?? part.signature ?? "";
    const state = host.decode(encoded);
    if (state === undefined) {
      const isNative = encoded !== "" && !isHostReasoning(encoded);
      if (isNative && host.isClaude) details.push(printReasoningDetail(part, details.length));
    } else if (state.kind === "detail") details.push(printDetail(state.detail, part, ids));
    else if (state.kind === "message") messageSignature = state.signature;
    else callSignatures.set(shortenId(state.id), state.signature);
  }
  return {
    members: {
      ...(details.length > 0 && { reasoning_details: details }),
      ...printThoughtSignature(messageSignature),
    },
    membersOf: ({ id }) => printThoughtSignature(callSignatures.get(id)),
  };
}

/** Prints an entry with its text. An entry with the id of a call gets the shortened id of that call. */
function printDetail(detail: JsonObject, { text }: ReasoningPart, ids: ReadonlySet<string>): JsonObject {
  const id = readText(detail.id);
  const shortened = shortenId(id);
  const printed = id !== shortened && ids.has(shortened) ? { ...detail, id: shortened } : detail;
  if (detail.type === "reasoning.encrypted") return printed;
  if (detail.type === "reasoning.summary") return { ...printed, summary: text };
  return text === "" ? printed : { ...printed, text };
}

function shortenId(id: string): string {
  return shortenIdentifier(id, ID_CHARS_MAX);
}
