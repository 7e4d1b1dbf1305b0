import { createHostReasoningDecoder, encodeHostReasoning } from "../host-reasoning.ts";
import { isJsonObject, type JsonObject, readText } from "../json/read.ts";

/** What a host wants back with an assistant's message, without the text of reasoning: that travels beside it. */
export type HostState =
  /** An entry of OpenRouter's `reasoning_details`. */
  | { readonly kind: "detail"; readonly detail: JsonObject }
  /** Gemini's signature over a message. */
  | { readonly kind: "message"; readonly signature: string }
  /** And over one of its calls, by the call's id. */
  | { readonly kind: "call"; readonly signature: string; readonly id: string };

/** Members of a detail that go back; its text and summary are not among them. */
const DETAIL_MEMBERS = ["type", "id", "format", "index", "signature", "data"];
const DETAIL_TYPE = /^reasoning\.\w{1,32}$/;

export function encodeHostState(origin: string, returned: HostState): string {
  return encodeHostReasoning(origin, { ...returned });
}

/** A detail as far as it goes back in a seal. */
export function pickDetail(detail: JsonObject): JsonObject {
  const kept = DETAIL_MEMBERS.filter((name) => isPlain(detail[name])).map((name) => [name, detail[name]]);
  return Object.fromEntries(kept);
}

/** Opens what was sealed for one origin; `undefined` for any other seal, and for what no host can have said. */
export type DecodeHostState = (token: string) => HostState | undefined;

export function createHostStateDecoder(origin: string | undefined): DecodeHostState {
  if (origin === undefined) return () => undefined;
  const read = createHostReasoningDecoder(origin);
  return (token) => readReturned(read(token) ?? {});
}

function readReturned({ kind, signature, id, detail }: JsonObject): HostState | undefined {
  if (kind === "detail") return readDetail(detail);
  if (typeof signature !== "string" || signature === "") return undefined;
  if (kind === "message") return { kind, signature };
  return kind === "call" && typeof id === "string" ? { kind, signature, id } : undefined;
}

/**
 * The signature that Gemini's OpenAI-compatible hosts put on a message, a delta or a call; "" for none.
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export function readThoughtSignature({ extra_content: extra }: JsonObject): string {
  const google = isJsonObject(extra) ? extra.google : undefined;
  return isJsonObject(google) ? readText(google.thought_signature) : "";
}

/** The member that says it. */
export function printThoughtSignature(signature: string | undefined) {
  return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}

function readDetail(detail: unknown): HostState | undefined {
  if (!isJsonObject(detail) || !DETAIL_TYPE.test(readText(detail.type))) return undefined;
  return { kind: "detail", detail: pickDetail(detail) };
}

function isPlain(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}
