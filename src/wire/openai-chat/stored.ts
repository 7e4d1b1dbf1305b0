import { isJsonObject, isSet, type JsonObject } from "../json/read.ts";

/**
 * Returns the path of the first field that refers to data stored at the upstream under the operator's key.
 * Such data may belong to another user of the gateway.
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
