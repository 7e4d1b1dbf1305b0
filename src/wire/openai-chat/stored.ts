import { isJsonObject, isSet, type JsonObject } from "../json/read.ts";

/**
 * The path of the first field of a chat body that brings in what an upstream has stored under the operator's key,
 * whoever of its users it came from.
 *
 * @see https://docs.sglang.ai/basic_usage/native_api.html `session_params`
 * @see https://ai.google.dev/gemini-api/docs/openai `extra_body.google.cached_content`
 */
export function findStored({ session_params: session, extra_body: extra }: JsonObject): string | undefined {
  if (isSet(session)) return "session_params";
  const google = isJsonObject(extra) ? extra.google : undefined;
  return isJsonObject(google) && isSet(google.cached_content)
    ? "extra_body.google.cached_content"
    : undefined;
}
