import { GatewayError } from "../../errors.ts";
import { editMembers, once } from "../json/edit.ts";
import { isSet, type JsonObject } from "../json/read.ts";
import { inputSizeOf, TEXT_SIZE } from "../prompt-size.ts";
import type { ModelRequest, UpstreamRequestOptions } from "../protocol.ts";
import { parseBody, readPositive, refuse, requireModel } from "../request-body.ts";
import { readInput } from "./input.ts";
import { refuseUnpriced, UNPRICED_NAMES } from "./unpriced-fields.ts";

const FORMATS: readonly unknown[] = ["float", "base64"];
/** What is checked or edited here: an upstream must take it from nowhere else. */
const FIELDS = new Set([
  "model",
  "input",
  "dimensions",
  "encoding_format",
  "stream",
  "service_tier",
  "speed",
  "user",
  ...UNPRICED_NAMES,
]);

/** Reads and checks an embeddings body. Which dimensions and unknown fields a model takes is the upstream's to judge. */
export function parseRequest(text: string): ModelRequest {
  const { body, repeatsKeys } = parseBody(text, FIELDS);
  const model = requireModel(body);
  const { prompts, texts, tokenIds } = readInput(body);
  checkOptions(body);
  refuseUnpriced(body, repeatsKeys);
  return {
    text,
    model,
    stream: false,
    outputTokensMax: 0,
    outputLimitField: undefined,
    thinkingTokens: 0,
    choices: 1,
    wantsUsage: false,
    // Half the bytes bound ids too: each takes a digit and what parts it from the next.
    input: { ...inputSizeOf(text, TEXT_SIZE, repeatsKeys), prompts, tokenIds },
    // A space, because most tokens of text begin with one: a line break would be a token of its own.
    promptText: () => texts.join(" "),
    readChat() {
      throw new GatewayError("not_built");
    },
  };
}

/** The body for an upstream: its model name, and no stream, which nobody would read. */
export function printUpstreamRequest(request: ModelRequest, { model }: UpstreamRequestOptions): string {
  return editMembers(request.text, {
    model: () => JSON.stringify(model),
    stream: () => undefined,
    input: once,
    dimensions: once,
    encoding_format: once,
    service_tier: once,
    speed: once,
  });
}

function checkOptions(body: JsonObject): void {
  const { encoding_format: format, user } = body;
  if (isSet(format) && !FORMATS.includes(format)) refuse("encoding_format");
  readPositive(body, "dimensions");
  if (isSet(user) && typeof user !== "string") refuse("user");
}
