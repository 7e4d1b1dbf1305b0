import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Answer, answer, type Script } from "./script.ts";
import { EVENT_STREAM, frame } from "./scripted-answers.ts";

const FOLDER = join(import.meta.dir, "../../../shared/recordings");

/**
 * Whether recorded provider answers exist beside the repository. Tests that replay them are skipped
 * otherwise.
 */
export const hasRecordings = existsSync(FOLDER);

if (!hasRecordings) console.warn("No provider recordings beside the repository: their tests are skipped.");

const ODD_FOLDER = join(import.meta.dir, "../../../shared/recordings-odd");

/** Whether recordings with unusual usage reports exist beside the repository. */
export const hasOddRecordings = existsSync(ODD_FOLDER);

/** Returns the text of a recording with unusual usage, by its path. */
export function oddRecording(file: string): string {
  return readFileSync(join(ODD_FOLDER, file), "utf8");
}

/** A recorded answer. `name` is its path without the ending. */
export interface Recording {
  readonly name: string;
  readonly protocol: "openai" | "anthropic";
}

/** Lists the recorded answers that are whole or streamed. Excludes embeddings. */
export function recordings(form: "whole" | "streamed"): Recording[] {
  if (!hasRecordings) return [];
  const ending = form === "whole" ? ".json" : ".chunks.txt";
  return readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending) && !file.includes("embedding"))
    .map((file) => ({ name: file.slice(0, -ending.length), protocol: protocolOf(file) }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** The JSON lines of a streamed recording. */
export function recordedLines(name: string): string[] {
  return readFileSync(join(FOLDER, `${name}.chunks.txt`), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
}

/** The body of a whole recording. */
export function recordedBody(name: string): string {
  return readFileSync(join(FOLDER, `${name}.json`), "utf8");
}

/** Replays a recording, streamed or whole as the request asks. `how` adds faults of the connection. */
export function recording(name: string, how: Omit<Answer, "body"> = {}): Script {
  return (request) => {
    const body = request.stream ? frame(protocolOf(name), recordedLines(name)) : recordedBody(name);
    const headers = { ...(request.stream && EVENT_STREAM), ...how.headers };
    return answer({ ...how, headers, body })(request);
  };
}

function protocolOf(name: string): "openai" | "anthropic" {
  return name.startsWith("anthropic/") ? "anthropic" : "openai";
}

const GOOGLE_FOLDER = join(import.meta.dir, "../../../shared/recordings-more/google");

/** An answer of Gemini: whole, and the responses of its stream. */
export interface GoogleRecording {
  readonly name: string;
  readonly whole: string;
  readonly lines: readonly string[];
}

/** Lists the recorded answers of Gemini; none where they do not exist. */
export function googleRecordings(): readonly GoogleRecording[] {
  if (!existsSync(GOOGLE_FOLDER)) return [];
  const read = (file: string) => readFileSync(join(GOOGLE_FOLDER, file), "utf8");
  const names = readdirSync(GOOGLE_FOLDER).filter((file) => file.endsWith(".json"));
  return names.map((file) => {
    const name = file.slice(0, -".json".length);
    const lines = read(`${name}.chunks.txt`).split("\n");
    return { name, whole: read(file), lines: lines.filter((line) => line.trim() !== "") };
  });
}
