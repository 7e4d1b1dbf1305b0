import { isJsonObject, type JsonObject } from "./json/read.ts";
import { readList } from "./request-body.ts";
import { refuseUnpricedField } from "./unpriced-fields.ts";

/**
 * Plug-ins that leave the model as it is. Others, such as `auto-router` and `fusion`, choose models.
 *
 * @see https://openrouter.ai/docs/guides/features/plugins/overview
 */
const PLUGINS: readonly unknown[] = [
  "web",
  "file-parser",
  "response-healing",
  "context-compression",
  "moderation",
];

/** Throws `unpriced_field` for a plug-in that is not known to leave model and price of tokens as they are. */
export function refuseUnpricedPlugins(body: JsonObject): void {
  const position = readList(body, "plugins").findIndex(
    (plugin) => !isJsonObject(plugin) || !PLUGINS.includes(plugin.id),
  );
  if (position >= 0) refuseUnpricedField(`plugins[${position}].id`);
}
