import type {
  ChatRequest,
  DocumentPart,
  ImagePart,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../../../domain/chat-request.ts";
import { parseJsonObject } from "../../json/read.ts";
import { readSignatures, type Signatures } from "../thinking.ts";

/** The model that contents are printed for. */
interface ContentOptions {
  /** Decodes the signatures that this upstream and model made. */
  readonly origin: string | undefined;
  /** Whether the model rejects a call without a signature, as Gemini 3 does. */
  readonly requiresSignatures: boolean;
}

/** A conversation as Gemini accepts it: user and model alternate, and the user begins. */
interface Contents {
  readonly system: readonly TextPart[];
  readonly contents: readonly object[];
}

/** User message that begins a conversation without one. */
const OPENING: Turn = {
  role: "user",
  parts: [{ kind: "text", text: "Please begin.", cache: undefined }],
};
/** The text of a tool result without text. Media follows as parts of the same message. */
const RESULT_IN_NEXT_PART = "The result is in the next part.";
const PARAGRAPH = "\n\n";
const UNKNOWN_TOOL = "unknown_tool";
/** The signature with which Google documents calls that its model did not make, or whose signature was lost. */
const SKIPPED_SIGNATURE = "skip_thought_signature_validator";

/**
 * Prints the turns. Leading system turns become the system instruction, and later ones become user messages in
 * their place. Function responses come first in a message, right after their calls.
 *
 * @see https://ai.google.dev/api/caching#Content
 */
export function printContents(turns: readonly Turn[], options: ContentOptions): Contents {
  const first = turns.findIndex(({ role }) => role !== "system");
  const leading = first < 0 ? turns : turns.slice(0, first);
  const messages = mergeTurns(first < 0 ? [] : turns.slice(first));
  const alternating = messages[0]?.role === "user" ? messages : [OPENING, ...messages];
  const names = namesOfCalls(turns);
  return {
    system: leading.flatMap(({ parts }) => parts.filter((part) => part.kind === "text")),
    contents: alternating.map(({ role, parts }) =>
      role === "assistant"
        ? { role: "model", parts: printModel(parts, options) }
        : { role: "user", parts: printUser(parts, names) },
    ),
  };
}

/** Merges consecutive turns of one role. Drops parts and turns without content. */
function mergeTurns(turns: readonly Turn[]): readonly Turn[] {
  const filled = turns.map(({ role, parts }) => ({ role, parts: parts.filter((part) => !isEmpty(part)) }));
  // Reasoning is merged before it is dropped: it may hold signatures of the parts that follow.
  const spoken = joinAlike(filled).filter(({ parts }) => parts.some(({ kind }) => kind !== "reasoning"));
  return joinAlike(spoken);
}

/** Joins consecutive turns of one role; a system turn counts as the user's. */
function joinAlike(turns: readonly Turn[]): readonly Turn[] {
  const joined: { role: Turn["role"]; parts: Part[] }[] = [];
  for (const turn of turns) {
    const role = turn.role === "assistant" ? "assistant" : "user";
    const last = joined.at(-1);
    if (last?.role === role) for (const part of turn.parts) last.parts.push(part);
    else if (turn.parts.length > 0) joined.push({ role, parts: [...turn.parts] });
  }
  return joined;
}

/** Gemini rejects a text without characters, also that of a document. */
function isEmpty(part: Part): boolean {
  if (part.kind === "text") return part.text === "";
  return part.kind === "document" && part.source.kind === "text" && textOf(part, part.source) === "";
}

function namesOfCalls(turns: readonly Turn[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { parts } of turns)
    for (const part of parts) if (part.kind === "tool_call") names.set(part.id, part.name);
  return names;
}

/** Prints a message of the model, with the signatures that the model expects back. Drops reasoning. */
function printModel(parts: readonly Part[], options: ContentOptions): readonly object[] {
  const signatures = readSignatures(parts, options.origin);
  const signedText = parts.findLast(({ kind }) => kind === "text");
  let isFirstCall = true;
  return parts.flatMap((part): readonly object[] => {
    if (part.kind === "text") {
      return [{ text: part.text, ...(part === signedText && printSignature(signatures.ofText)) }];
    }
    if (part.kind !== "tool_call") return [];
    const mustBeSigned = isFirstCall && options.requiresSignatures;
    isFirstCall = false;
    return [printCall(part, signatures, mustBeSigned)];
  });
}

/** Of parallel calls, only the first one must be signed. */
function printCall({ id, name, input }: ToolCallPart, signatures: Signatures, mustBeSigned: boolean): object {
  const signature = signatures.ofCall(id) ?? (mustBeSigned ? SKIPPED_SIGNATURE : undefined);
  return { functionCall: { id, name, args: parseJsonObject(input) ?? {} }, ...printSignature(signature) };
}

function printSignature(signature: string | undefined): object {
  return signature === undefined ? {} : { thoughtSignature: signature };
}

function printUser(parts: readonly Part[], names: ReadonlyMap<string, string>): readonly object[] {
  const results = parts.filter((part) => part.kind === "tool_result");
  return [
    ...results.map((result) => printResult(result, names.get(result.callId) ?? UNKNOWN_TOOL)),
    ...parts.flatMap(printUserPart),
  ];
}

/** Of a tool result, only media is printed beside its function response. */
function printUserPart(part: Part): readonly object[] {
  if (part.kind === "tool_result")
    return part.parts.filter(({ kind }) => kind !== "text").flatMap(printUserPart);
  if (part.kind === "text") return [{ text: part.text }];
  if (part.kind === "image") return [printMedia(part)];
  return part.kind === "document" ? printDocument(part) : [];
}

/** Prints the texts of a result as its output, or as its error. */
function printResult({ callId, parts, isError }: ToolResultPart, name: string): object {
  const texts = parts.filter((part) => part.kind === "text");
  const joined = texts.map(({ text }) => text).join(PARAGRAPH);
  const text = joined === "" && texts.length < parts.length ? RESULT_IN_NEXT_PART : joined;
  return { functionResponse: { id: callId, name, response: isError ? { error: text } : { output: text } } };
}

function printDocument(part: DocumentPart): readonly object[] {
  const { source } = part;
  if (source.kind !== "text") return [printMedia({ ...part, source })];
  return [{ text: textOf(part, source) }];
}

function textOf({ name }: DocumentPart, { text }: { readonly text: string }): string {
  return name === undefined ? text : `${name}:\n${text}`;
}

type Media = Pick<ImagePart, "source"> & { readonly kind: "image" | "document" };

/** Prints inline bytes, or an address from which Google fetches the file. */
function printMedia({ source, kind }: Media): object {
  if (source.kind === "inline") return { inlineData: { mimeType: source.mediaType, data: source.data } };
  return { fileData: { fileUri: source.url, mimeType: typeOfUrl(source.url) ?? DEFAULT_TYPES[kind] } };
}

const DEFAULT_TYPES = { image: "image/jpeg", document: "application/pdf" };
const TYPES_BY_EXTENSION = new Map([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["webp", "image/webp"],
  ["heic", "image/heic"],
  ["heif", "image/heif"],
  ["pdf", "application/pdf"],
]);

/** Vertex requires the type of a file that it fetches; clients send none. */
function typeOfUrl(url: string): string | undefined {
  const [, extension = ""] = /\.(\w{1,5})$/.exec(URL.parse(url.trim())?.pathname ?? "") ?? [];
  return TYPES_BY_EXTENSION.get(extension.toLowerCase());
}

const STOPS_MAX = 5;
/** @see https://ai.google.dev/gemini-api/docs/image-understanding */
const IMAGE_TYPES = /^image\/(?:png|jpeg|webp|heic|heif)$/;
const DOCUMENT_TYPES = /^(?:application\/pdf|audio\/[\w.+-]+|video\/[\w.+-]+)$/;

/**
 * Returns the path of the first image or document of a type that Gemini rejects. Also rejects more stop
 * sequences than it accepts.
 */
export function findUntranslatable({ turns, stopSequences }: ChatRequest): string | undefined {
  if (stopSequences.length > STOPS_MAX) return "stop_sequences";
  for (const { parts } of turns) {
    const rejected = parts.flatMap(mediaIn).find((media) => !isAccepted(media));
    if (rejected) return rejected.path;
  }
  return undefined;
}

function mediaIn(part: Part): readonly (ImagePart | DocumentPart)[] {
  if (part.kind === "tool_result") return part.parts.filter(isMedia);
  return isMedia(part) ? [part] : [];
}

function isMedia(part: Part): part is ImagePart | DocumentPart {
  return part.kind === "image" || part.kind === "document";
}

function isAccepted({ kind, source }: ImagePart | DocumentPart): boolean {
  if (source.kind !== "inline") return true;
  return (kind === "image" ? IMAGE_TYPES : DOCUMENT_TYPES).test(source.mediaType);
}
