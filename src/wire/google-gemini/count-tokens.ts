import type { CountFormat } from "../format.ts";
import { editMembers, sliceMember } from "../json/edit.ts";
import { joinMembers, parseJsonObject, readCount } from "../json/read.ts";
import { dropForeignSignatures } from "./carried-reasoning.ts";
import { modelPath } from "./path.ts";

/**
 * Google's count of a prompt's tokens. Vertex AI, which hosts Anthropic's models too, has another form of it.
 *
 * @see https://ai.google.dev/api/tokens#method:-models.counttokens
 */
export const countFormat: CountFormat = {
  path: (model) => `/${modelPath(model)}:countTokens`,
  isKnownTo: (host) => host === undefined,
  printRequest({ text }, { model }) {
    const request = editMembers(text, {
      model: () => JSON.stringify(`models/${model}`),
      stream: () => undefined,
      contents: (value) => value && dropForeignSignatures(value),
    });
    return joinMembers({ generateContentRequest: request });
  },
  readCount(text) {
    const tokens = readCount(parseJsonObject(text)?.totalTokens);
    return Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined;
  },
  printCount: (totalTokens) => JSON.stringify({ totalTokens }),
};

/** Returns the body of a count that wraps a whole request as that request, in JSON; others unchanged. */
export function unwrapCount(text: string): string {
  const wrapped =
    sliceMember(text, "generateContentRequest") ?? sliceMember(text, "generate_content_request");
  return wrapped?.startsWith("{") ? editMembers(wrapped, { model: () => undefined }) : text;
}
