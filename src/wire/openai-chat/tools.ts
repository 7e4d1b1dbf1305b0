import { REQUEST_FEE, type ToolDemand, type ToolDemands } from "../../domain/tool-fees.ts";
import { findMiscased, isJsonObject, isSet, type JsonObject, readArray } from "../json/read.ts";
import { rejectUnpricedField } from "../unpriced-fields.ts";

/** The field that makes a search model of OpenAI search. */
const SEARCH_FIELD = "web_search_options";
const WEB_PLUGIN = "web";
/** The engine that is billed by result. Another may be that of a provider, whose searches have no bound. */
const ENGINE = "exa";
const RESULTS_MAX = 100;
const PLUGIN_MEMBERS = new Set(["id", "engine", "max_results"]);

/** What chat may ask for at a fee, because its calls are bounded. */
export const PRICED = { fields: [SEARCH_FIELD], isPlugin: isBoundedSearch };

/**
 * Reads the searches of a chat body; `undefined` for none. Answers do not report them: each answer has one search,
 * and a plugin has the results that it asks for.
 *
 * @see https://developers.openai.com/api/docs/guides/tools-web-search `web_search_options`
 * @see https://openrouter.ai/docs/guides/features/plugins/web-search `plugins`
 */
export function readSearches(body: JsonObject, choices: number): ToolDemands | undefined {
  const tools: ToolDemand[] = [];
  if (isSet(body[SEARCH_FIELD])) {
    tools.push({
      name: "web_search",
      path: SEARCH_FIELD,
      callsMax: choices,
      isFixed: true,
      coveredBy: REQUEST_FEE,
    });
  }
  for (const [position, plugin] of readArray(body.plugins).entries()) {
    if (!isJsonObject(plugin) || plugin.id !== WEB_PLUGIN) continue;
    const callsMax = typeof plugin.max_results === "number" ? plugin.max_results : RESULTS_MAX;
    tools.push({ name: "web_result", path: `plugins[${position}].id`, callsMax, isFixed: true });
  }
  return tools.length > 0 ? { tools } : undefined;
}

/** Whether a plugin searches with an engine that is billed by result, and says how many results it wants. */
function isBoundedSearch(plugin: JsonObject): boolean {
  const { id, engine, max_results: results } = plugin;
  if (id !== WEB_PLUGIN || engine !== ENGINE) return false;
  if (findMiscased(plugin, PLUGIN_MEMBERS) !== undefined) return false;
  return (
    typeof results === "number" && Number.isSafeInteger(results) && results >= 1 && results <= RESULTS_MAX
  );
}

/** The fields that ask for output beside text. */
interface AskedOutput {
  readonly audioOutput?: string;
  readonly audioTokenBytes?: number;
  readonly imageOutput?: string;
}

const MODALITIES: readonly unknown[] = ["text", "audio", "image"];

/** Formats without a codec: 24,000 samples of two bytes a second. Streams have no other at OpenAI. */
const PLAIN_SOUND: ReadonlySet<unknown> = new Set(["pcm16", "wav"]);
/**
 * Bytes of 50 ms of spoken output, which are one token.
 *
 * @see https://developers.openai.com/api/docs/guides/realtime-costs
 */
const PLAIN_BYTES = 2_400;
/** No codec of speech has fewer bytes in 50 ms: 6 kbit/s. */
const CODED_BYTES = 37;

/**
 * Reads which output a body asks for. Throws `unpriced_field` for another modality.
 *
 * @see https://developers.openai.com/api/docs/guides/audio `modalities`
 */
export function readAskedOutput({ modalities, audio }: JsonObject): AskedOutput {
  if (!isSet(modalities)) return {};
  if (!Array.isArray(modalities) || !modalities.every((each) => MODALITIES.includes(each)))
    rejectUnpricedField("modalities");
  return {
    ...(modalities.includes("audio") && {
      audioOutput: "modalities",
      audioTokenBytes: isJsonObject(audio) && PLAIN_SOUND.has(audio.format) ? PLAIN_BYTES : CODED_BYTES,
    }),
    ...(modalities.includes("image") && { imageOutput: "modalities" }),
  };
}
