import { parseJsonObject } from "../../json/read.ts";
import { UpstreamFault } from "../../protocol.ts";

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The input of one tool call as it comes. */
export interface ToolInput {
  add(json: string): void;
  isEmpty(): boolean;
  /** Whether all of an object has come, as far as its braces tell. Nothing yet is not complete. */
  isComplete(): boolean;
  text(): string;
}

/** Gathers the input of a call. Each character is looked at once at most, and only when it is asked for. */
export function createToolInput(): ToolInput {
  const pieces: string[] = [];
  let scanned = 0;
  let depth = 0;
  let isBegun = false;
  let isInString = false;
  let isEscaped = false;

  const scan = (code: number): void => {
    if (isEscaped) isEscaped = false;
    else if (isInString) {
      if (code === BACKSLASH) isEscaped = true;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      isBegun = true;
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
      return isBegun && depth <= 0;
    },
    text: () => pieces.join(""),
  };
}

/** Whether a text is empty but for what JSON takes for white space, which is less than others do. */
export function isBlank(text: string): boolean {
  return /^[ \t\r\n]*$/.test(text);
}

/** The input as the text of a JSON object, "{}" for none; `undefined` when it is no object. */
export function completeInput(text: string): string | undefined {
  if (isBlank(text)) return "{}";
  return parseJsonObject(text) && text;
}

/** The same. Throws {@link UpstreamFault} when it is no object: what a client would make of it nobody knows. */
export function requireInput(text: string): string {
  const json = completeInput(text);
  if (json === undefined) throw new UpstreamFault("The input of a tool call is no object");
  return json;
}
