// The text of a file that may be larger than the memory, piece by piece.
import { closeSync, openSync, readSync } from "node:fs";
import { CommandError } from "../command.ts";

const PIECE_BYTES = 65_536;
/** An entry of a log is a line, and may have the bodies of a request and its answer. */
const LINE_CHARACTERS_MAX = 64_000_000;

/** Reads a file as text: UTF-8, or UTF-16 with its mark. Throws CommandError without its content. */
export function readText(path: string): string {
  return [...readPieces(path)].join("");
}

/** Reads the lines of a text that are not blank one by one, without their line feeds. */
export function* readLines(path: string): Generator<string> {
  for (const line of splitPieces(path, /\n/g)) if (line.trim() !== "") yield line;
}

/** Reads the lines of a text one by one, blank ones too. A line feed between two quotation marks ends none. */
export function readQuotedLines(path: string): Generator<string> {
  return splitPieces(path, /["\n]/g);
}

function* splitPieces(path: string, mark: RegExp): Generator<string> {
  let line = "";
  let isQuoted = false;
  for (const piece of readPieces(path)) {
    let from = 0;
    for (let found = mark.exec(piece); found; found = mark.exec(piece)) {
      if (found[0] === '"') isQuoted = !isQuoted;
      if (isQuoted || found[0] === '"') continue;
      yield line + piece.slice(from, found.index);
      line = "";
      from = mark.lastIndex;
    }
    line += piece.slice(from);
    if (line.length <= LINE_CHARACTERS_MAX) continue;
    const where = isQuoted ? " after a quotation mark" : "";
    throw new CommandError(`${path} has a line of more than ${LINE_CHARACTERS_MAX} characters${where}.`);
  }
  if (line !== "") yield line;
}

/** Reads the first piece of a text that is not blank. */
export function readStart(path: string): string {
  for (const piece of readPieces(path)) if (piece.trim() !== "") return piece;
  return "";
}

function* readPieces(path: string): Generator<string> {
  const file = attempt(() => openSync(path, "r"), `${path} cannot be read.`);
  try {
    const bytes = new Uint8Array(PIECE_BYTES);
    const read = () =>
      bytes.subarray(
        0,
        attempt(() => readSync(file, bytes), `${path} cannot be read.`),
      );
    let some = read();
    const decoder = new TextDecoder(encodingOf(some), { fatal: true });
    const decode = (stream: boolean) =>
      attempt(() => decoder.decode(some, { stream }), `${path} is no text in UTF-8 or UTF-16.`);
    for (; some.length > 0; some = read()) yield decode(true);
    yield decode(false);
  } finally {
    closeSync(file);
  }
}

function attempt<Result>(work: () => Result, problem: string): Result {
  try {
    return work();
  } catch {
    throw new CommandError(problem);
  }
}

function encodingOf([first, second]: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}
