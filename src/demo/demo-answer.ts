import { isJsonObject, type JsonObject, readArray, readText } from "../wire/json/read.ts";
import { joinPromptText } from "../wire/prompt-size.ts";

/** What the demo model says, before it is put into a protocol's words. */
export interface DemoAnswer {
  readonly id: string;
  readonly createdAtS: number;
  readonly model: string;
  /** The text, a token each. */
  readonly tokens: readonly string[];
  /** Whether the output limit cut it short. */
  readonly isCut: boolean;
  readonly inputTokens: number;
}

/** A token of the demo model: up to 16 characters of a word with the space before it. Only for trimmed text. */
const TOKEN = /\s*\S{1,16}/gu;
/** The same without the space: long runs of space before no word would be looked at again from each of their characters. */
const BARE_TOKEN = /\S{1,16}/gu;

/** Says back what the user said last, in at most `outputTokensMax` tokens. */
export function composeDemoAnswer(
  body: JsonObject,
  outputTokensMax: number,
  { id, createdAtS }: { id: string; createdAtS: number },
): DemoAnswer {
  const said = lastUserText(body).trim();
  const text = said === "" ? "You said nothing." : `You said: ${said}`;
  const tokens = takeTokens(text, outputTokensMax + 1);
  const isCut = tokens.length > outputTokensMax;
  return {
    id,
    createdAtS,
    model: readText(body.model),
    tokens: isCut ? tokens.slice(0, outputTokensMax) : tokens,
    isCut,
    inputTokens: countDemoInput(body),
  };
}

/** The tokens of a prompt, as the demo model bills them. */
export function countDemoInput(body: JsonObject): number {
  let count = 0;
  for (const _ of tokensOf(joinPromptText([body.system, body.messages, body.tools]))) count += 1;
  return count;
}

/** The tokens of any text, without the space between them. */
export function* tokensOf(text: string): Generator<string> {
  for (const [token] of text.matchAll(BARE_TOKEN)) yield token;
}

function lastUserText(body: JsonObject): string {
  const message = readArray(body.messages)
    .filter(isJsonObject)
    .findLast(({ role }) => role === "user");
  if (typeof message?.content === "string") return message.content;
  const parts = readArray(message?.content).filter(isJsonObject);
  return parts.map((part) => readText(part.text)).join(" ");
}

function takeTokens(text: string, count: number): string[] {
  return [...text.matchAll(TOKEN).take(count)].map(([token]) => token);
}
