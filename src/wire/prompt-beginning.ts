import type { ClientSurface } from "../domain/model.ts";
import { skipSpace, skipValue } from "./json/scan.ts";

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
/** Providers cache prompts from 1,024 tokens on, which are about so many characters. */
const BODY_CHARS_MIN = 4_096;
/** Characters that are hashed of each part. */
const PART_CHARS_MAX = 2_048;
/** How far into a body instructions are looked for. */
const HEAD_CHARS_MAX = 1_024;
/** How far into the messages the first one of the user is looked for: searching 100 KB takes 0.1 ms. */
const USER_CHARS_MAX = 32_768;
/** Clients move their cache marks as a conversation grows. */
const CACHE_MARK = /,"cache_control":\{[^{}]*\}/g;

const INSTRUCTIONS = ['"system"', '"systemInstruction"', '"instructions"', '"tools"'] as const;
/** The member with the messages of a format; a format without prompts has none. */
const MESSAGES: Readonly<Record<string, string>> = {
  chat: '"messages"',
  messages: '"messages"',
  responses: '"input"',
  compact: '"input"',
  gemini: '"contents"',
} satisfies Partial<Record<ClientSurface, string>>;

/** A range of a text. */
interface Span {
  readonly start: number;
  readonly end: number;
  /** Whether its last characters are hashed instead of its first. */
  readonly isTail?: boolean;
}

/**
 * Hashes the beginning of a prompt, in 32 bits: instructions or tools before the messages, the beginning of
 * the messages, and the first message of the user; 2,048 characters of each. All requests of a conversation
 * have one hash. Returns `undefined` for a body that is too short for a provider's prompt cache, and without
 * messages. The text must be valid JSON. It is searched natively instead of parsed, in some microseconds.
 */
export function hashBeginning(text: string, surface: ClientSurface): number | undefined {
  const name = MESSAGES[surface];
  if (text.length < BODY_CHARS_MIN || name === undefined) return undefined;
  const list = findMessages(text, name);
  if (list === undefined) return undefined;
  const user = findUserMessage(text, list);
  const instructions = hashPart(text, findInstructions(text, list), 0);
  const opening = hashPart(text, { start: list, end: user.isTail ? user.end : user.start }, instructions);
  return hashPart(text, user, opening);
}

/**
 * Returns where the messages start. In a string every quote is escaped, so that a name in quotes is a whole
 * string: that of the member, or one inside of tools, whose value is no list.
 */
function findMessages(text: string, name: string): number | undefined {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const colon = skipSpace(text, at + name.length);
    if (text.charCodeAt(colon) !== COLON) continue;
    const start = skipSpace(text, colon + 1);
    const first = text.charCodeAt(start);
    if (first === OPEN_BRACKET || (first === QUOTE && name === MESSAGES.responses)) return start;
  }
  return undefined;
}

function findInstructions(text: string, list: number): Span {
  const head = text.slice(0, Math.min(list, HEAD_CHARS_MAX));
  let start = list;
  for (const name of INSTRUCTIONS) {
    const at = head.indexOf(name);
    if (at >= 0 && at < start) start = at;
  }
  return { start, end: list };
}

/** Finds the first message of the user, whose role may be its first member or its last; else the whole list. */
function findUserMessage(text: string, list: number): Span {
  const role = text.charCodeAt(list) === OPEN_BRACKET ? findUser(text, list) : -1;
  if (role < 0) return { start: list, end: endOf(text, list) };
  const isLast = text.charCodeAt(skipSpace(text, role + '"user"'.length)) === CLOSE_BRACE;
  if (isLast) return { start: Math.max(list, role - 2 * PART_CHARS_MAX), end: role, isTail: true };
  const start = Math.max(list, text.lastIndexOf("{", role));
  return { start, end: endOf(text, start) };
}

function findUser(text: string, list: number): number {
  const role = text.slice(list, list + USER_CHARS_MAX).indexOf('"user"');
  return role < 0 ? -1 : list + role;
}

/** Returns the end of a value, or a later index than is hashed. */
function endOf(text: string, start: number): number {
  return start + skipValue(text.slice(start, start + 2 * PART_CHARS_MAX), 0);
}

function hashPart(text: string, { start, end, isTail }: Span, seed: number): number {
  if (end <= start) return seed;
  const part = text.slice(start, Math.min(end, start + 2 * PART_CHARS_MAX));
  const unmarked = part.includes('"cache_control"') ? part.replaceAll(CACHE_MARK, "") : part;
  const hashed = isTail ? unmarked.slice(-PART_CHARS_MAX) : unmarked.slice(0, PART_CHARS_MAX);
  return Bun.hash.xxHash32(hashed, seed);
}
