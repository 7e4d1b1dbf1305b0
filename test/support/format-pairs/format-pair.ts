import { CHAT, MESSAGES, objectOf, post, type RequestOptions, type Surface } from "../client.ts";
import { type Answer, answer, type Script, type ScriptedFormat } from "../script.ts";
import { EVENT_STREAM, frame } from "../scripted-answers.ts";
import { framesOf, type Json, objectAt } from "../strict-json.ts";
import type { TestGateway } from "../test-gateway.ts";
import { collectChat, printChat, printChatLines, readChat, readStrictChat } from "./chat.ts";
import {
  collectMessage,
  printMessage,
  printMessageLines,
  readMessage,
  readStrictMessages,
} from "./messages.ts";
import type { NeutralAnswer } from "./neutral-answer.ts";

/** The protocol of a client and the protocol of the upstream that answers it. */
export interface FormatPair {
  readonly surface: Surface;
  readonly upstream: ScriptedFormat;
  /** The model of the test catalog that this upstream answers. */
  readonly model: string;
  readonly isTranslated: boolean;
}

/** All four pairs of a client protocol and an upstream protocol. */
export const FORMAT_PAIRS: readonly FormatPair[] = [CHAT, MESSAGES].flatMap((surface) =>
  (["openai", "anthropic"] as const).map((upstream) => {
    const { model } = upstream === "openai" ? CHAT : MESSAGES;
    return { surface, upstream, model, isTranslated: surface.model !== model };
  }),
);

/** The two pairs whose protocols differ. */
export const TRANSLATED_PAIRS: readonly FormatPair[] = FORMAT_PAIRS.filter(
  ({ isTranslated }) => isTranslated,
);

/** The answer of an upstream in its own format, whole and as stream events. */
export interface ProviderAnswer {
  readonly whole: Json;
  readonly lines: readonly string[];
}

/** Encodes an answer in the format of a protocol. */
export function providerAnswerOf(protocol: ScriptedFormat, given: NeutralAnswer): ProviderAnswer {
  return protocol === "openai"
    ? { whole: printChat(given), lines: printChatLines(given) }
    : { whole: printMessage(given), lines: printMessageLines(given) };
}

/** Decodes an answer in the format of a protocol. */
export function readProviderAnswer(
  protocol: ScriptedFormat,
  { whole }: Pick<ProviderAnswer, "whole">,
): NeutralAnswer {
  return protocol === "openai" ? readChat(whole) : readMessage(whole);
}

/** Merges stream events into a whole answer. */
export function collectLines(protocol: ScriptedFormat, lines: readonly string[]): ProviderAnswer {
  const jsons = lines.map((line): Json => JSON.parse(line));
  return { lines, whole: protocol === "openai" ? collectChat(jsons) : collectMessage(jsons) };
}

/** Returns a script that sends an answer, whole or streamed as the request asks. */
export function replay({ whole, lines }: ProviderAnswer, how: Omit<Answer, "body"> = {}): Script {
  return (request) => {
    const { stream, protocol } = request;
    const body = stream ? frame(protocol, lines) : JSON.stringify(whole);
    return answer({ ...how, headers: { ...(stream && EVENT_STREAM), ...how.headers }, body })(request);
  };
}

/** Returns a script that encodes an answer in the format of the request. */
export function answerNeutrally(given: NeutralAnswer, how: Omit<Answer, "body"> = {}): Script {
  return (request) => replay(providerAnswerOf(request.protocol, given), how)(request);
}

/** Sends the default request to the upstream of a pair. A chat stream asks for usage. */
export function postTo(
  gateway: TestGateway,
  { surface, model }: FormatPair,
  { stream = false, ...more }: RequestOptions & { readonly stream?: boolean } & Record<string, unknown> = {},
): Promise<Response> {
  const usage = stream === true && surface.name === "chat" && { stream_options: { include_usage: true } };
  return post(gateway, surface, { model, stream, max_tokens: 4_000, ...usage, ...more });
}

/** Decodes a successful response. Translated streams are parsed strictly. */
export async function readReply(response: Response, pair: FormatPair): Promise<NeutralAnswer> {
  const { surface } = pair;
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const whole = isStream ? collectBody(await response.text(), pair) : await objectOf(response);
  if (whole.model !== pair.model) throw new Error("The answer has another model's name");
  return surface.name === "chat" ? readChat(whole) : readMessage(whole);
}

function collectBody(body: string, { surface, model, isTranslated }: FormatPair): Json {
  if (surface.name === "chat") {
    const chunks = isTranslated ? readStrictChat(body, model, true) : jsonsOf(body);
    return { ...collectChat(chunks), model: chunks.at(-1)?.model };
  }
  return collectMessage(isTranslated ? readStrictMessages(body, model) : jsonsOf(body));
}

function jsonsOf(body: string): Json[] {
  return framesOf(body).flatMap(({ json }) => (json === "[DONE]" ? [] : [objectAt(json, "an event")]));
}
