import type { ReplyHead } from "../../format.ts";
import { createCallIds } from "../../identifiers.ts";
import { parseJsonObject } from "../../json/read.ts";
import { UpstreamFault } from "../../upstream-fault.ts";

/** Ids that Anthropic's clients accept and send back. */
const ID = /^[\w-]{1,256}$/;

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Returns a function that gives the tool calls of one answer valid and distinct `tool_use` ids. */
export function createToolUseIds({ id: answerId }: ReplyHead): (id: string) => string {
  return createCallIds(
    (calls) => `toolu_${answerId}${calls}`,
    (id) => ID.test(id),
  );
}

/** The input of one tool call, in pieces as they arrive. */
export interface ToolInput {
  add(json: string): void;
  isEmpty(): boolean;
  /** Whether the braces of a whole object have arrived. False for an empty input. */
  isComplete(): boolean;
  text(): string;
}

/** Collects the input of a call. Scans each character at most once, and only when `isComplete` is called. */
export function createToolInput(): ToolInput {
  const pieces: string[] = [];
  let scanned = 0;
  let depth = 0;
  let hasBegun = false;
  let isInString = false;
  let isEscaped = false;

  const scan = (code: number): void => {
    if (isEscaped) isEscaped = false;
    else if (isInString) {
      if (code === BACKSLASH) isEscaped = true;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      hasBegun = true;
      depth += 1;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
  };

  return {
    add: (json) => void pieces.push(json),
    isEmpty: () => pieces.length === 0,
    isComplete() {
      for (; scanned < pieces.length; scanned += 1) {
        const piece = pieces[scanned] ?? "";
        for (let at = 0; at < piece.length; at += 1) scan(piece.charCodeAt(at));
      }
      return hasBegun && depth <= 0;
    },
    text: () => pieces.join(""),
  };
}

/** Whether a text contains only JSON white space, which is a subset of what `\s` matches. */
export function isBlank(text: string): boolean {
  return /^[ \t\r\n]*$/.test(text);
}

/** Returns the input if it is a JSON object, "{}" for a blank input, and `undefined` for any other. */
export function completeInput(text: string): string | undefined {
  if (isBlank(text)) return "{}";
  return parseJsonObject(text) && text;
}

/** Returns the input as {@link completeInput} does. Throws {@link UpstreamFault} for `undefined`. */
export function requireInput(text: string): string {
  const json = completeInput(text);
  if (json === undefined) throw new UpstreamFault("The input of a tool call is no object");
  return json;
}
