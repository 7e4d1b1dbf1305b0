import type { CacheMark, ChatRequest, Part, TextPart, Tool } from "../domain/chat-request.ts";
import type { Message } from "./arrange-messages.ts";

/** A prompt in the order in which Anthropic reads and caches it: tools, system prompt, messages. */
interface Prompt {
  readonly tools: readonly Tool[];
  readonly system: readonly TextPart[];
  readonly messages: readonly Message[];
}

/** Length of the shortest prefix that a model caches, in tokens. Anthropic ignores marks of shorter ones. */
const TOKENS_MIN = 1_024;
const LONGER_MINIMA: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/opus-4[-.][5-7](?!\d)|haiku-4[-.]5/, 4_096],
  [/3([-.]5)?-haiku|haiku-3/, 2_048],
];
const BYTES_PER_TOKEN = 4;
/** An image or document that is not text. A number too high is harmless: the provider ignores the mark. */
const MEDIA_TOKENS = 1_024;
const MARK: CacheMark = { ttl: undefined };

/**
 * Marks the ends of the prefixes that a later request is likely to repeat: tools, system prompt, the second to
 * last and the last user message. Each must be long enough for `model`; a single message is marked only where a
 * tool call will repeat it. At most 4 marks; a prompt with a mark of the client's own is returned unchanged.
 *
 * @see https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
 */
export function markPrefixes(
  prompt: Prompt,
  { toolChoice, cache }: Pick<ChatRequest, "toolChoice" | "cache">,
  model: string,
): Prompt {
  if (cache || isMarked(prompt)) return prompt;
  const { tools, system, messages } = prompt;
  const min = minimumOf(model);
  const ofTools = sumOf(tools, tokensOfTool);
  const ofSystem = ofTools + sumOf(system, tokensOfPart);
  const ends = isLikelyRepeated(prompt, toolChoice) ? findEnds(messages) : [];
  let read = ofSystem;
  return {
    tools: ofTools >= min ? markLast(tools) : tools,
    system: ofSystem >= min ? markLast(system, canBeMarked) : system,
    messages: messages.map((message, position) => {
      read += sumOf(message.parts, tokensOfPart);
      return ends.includes(position) && read >= min
        ? { ...message, parts: markLast(message.parts, canBeMarked) }
        : message;
    }),
  };
}

function minimumOf(model: string): number {
  return LONGER_MINIMA.find(([name]) => name.test(model))?.[1] ?? TOKENS_MIN;
}

function isMarked({ tools, system, messages }: Prompt): boolean {
  return (
    tools.some(hasMark) || system.some(hasMark) || messages.some(({ parts }) => parts.some(isMarkedPart))
  );
}

function hasMark({ cache }: { readonly cache: CacheMark | undefined }): boolean {
  return cache !== undefined;
}

function isMarkedPart(part: Part): boolean {
  if (part.kind === "reasoning") return false;
  return hasMark(part) || (part.kind === "tool_result" && part.parts.some(hasMark));
}

/**
 * Whether the next request repeats these messages: a conversation goes on, and so does a tool loop. A forced
 * tool in the first message usually extracts data once.
 */
function isLikelyRepeated({ tools, messages }: Prompt, toolChoice: ChatRequest["toolChoice"]): boolean {
  if (messages.some(({ role }) => role === "assistant")) return true;
  return tools.length > 0 && (toolChoice === undefined || toolChoice.kind === "auto");
}

/**
 * Returns the positions of the last two user messages. The last request ended with the first of them: the
 * provider finds that prefix although it looks back only 20 blocks from the end.
 */
function findEnds(messages: readonly Message[]): readonly number[] {
  return messages.flatMap(({ role }, position) => (role === "user" ? [position] : [])).slice(-2);
}

/** Marks the last element that can carry a mark. */
function markLast<Element>(
  list: readonly Element[],
  canBe: (element: Element) => boolean = () => true,
): readonly Element[] {
  const at = list.findLastIndex(canBe);
  return list.map((element, position) => (position === at ? { ...element, cache: MARK } : element));
}

/** Anthropic refuses marks on reasoning and on empty texts. */
function canBeMarked(part: Part): boolean {
  return part.kind !== "reasoning" && (part.kind !== "text" || part.text !== "");
}

function sumOf<Element>(list: readonly Element[], tokensOf: (element: Element) => number): number {
  let sum = 0;
  for (const element of list) sum += tokensOf(element);
  return sum;
}

function tokensOfTool({ name, description = "", schema }: Tool): number {
  return tokensOfText(name) + tokensOfText(description) + tokensOfText(JSON.stringify(schema));
}

function tokensOfPart(part: Part): number {
  switch (part.kind) {
    case "tool_call":
      return tokensOfText(part.name) + tokensOfText(part.input);
    case "tool_result":
      return sumOf(part.parts, tokensOfPart);
    case "image":
      return MEDIA_TOKENS;
    case "document":
      return part.source.kind === "text" ? tokensOfText(part.source.text) : MEDIA_TOKENS;
    default:
      return tokensOfText(part.text);
  }
}

function tokensOfText(text: string): number {
  return Buffer.byteLength(text) / BYTES_PER_TOKEN;
}
