import { DAY_MS } from "../../domain/id-time.ts";
import { CAPABILITIES, type Capability } from "../../domain/model.ts";
import type { KnownMode, KnownModel } from "../known-models.ts";
import {
  type ListEntry,
  numberIn,
  readImageCost,
  readLongCost,
  readOtherCost,
  readRegionalFactor,
  readTokenCost,
  readUnitCost,
  textIn,
  withInRegionCosts,
} from "./list-cost.ts";
import { type ListId, readListId } from "./list-id.ts";

/** What an update took from a list. */
export interface ReadList {
  readonly models: readonly KnownModel[];
  /** Entries with implausible facts, each as "key: what is wrong". None of them is in `models`. */
  readonly skipped: readonly string[];
}

export interface ListSource {
  /** Name of the list, the source of prices that name none. */
  readonly list: string;
  /** The day on which the list was read. */
  readonly checked: string;
}

const MODES: Readonly<Record<string, KnownMode>> = {
  chat: "chat",
  responses: "chat",
  embedding: "embedding",
  rerank: "rerank",
  moderation: "moderation",
  image_generation: "image",
  audio_speech: "speech",
  audio_transcription: "transcription",
};

/** Members of an entry by the capability that they state. */
const STATED: Readonly<Record<Capability, readonly string[]>> = {
  tools: ["supports_function_calling"],
  images: ["supports_vision", "supports_image_input"],
  documents: ["supports_pdf_input"],
  audio: ["supports_audio_input"],
  reasoning: ["supports_reasoning"],
  structured_output: ["supports_response_schema", "supports_native_structured_output"],
  prompt_caching: ["supports_prompt_caching"],
};

/** Modes whose models may be sold by units, without a window. */
const LIMITLESS: readonly KnownMode[] = ["image", "speech", "transcription", "moderation"];

const EFFORT = /^supports_(none|minimal|low|xhigh|max)_reasoning_effort$/;
/** Windows of OpenAI's models that admit less input than the window: 400,000 and 1,050,000 tokens. */
const INPUT_LIMITS = [272_000, 922_000];
/** No model costs as much. A listed cost above it has a wrong unit. */
const USD_PER_MILLION_MAX = 10_000;
/** A model that ended longer ago is left out. */
const ENDED_DAYS_MAX = 730;
const SOURCE_LENGTH_MAX = 120;

/**
 * Reads a list in the format of LiteLLM's `model_prices_and_context_window.json`. Takes facts alone, of the
 * providers and modes that Tollgate can serve.
 */
export function readList(entries: Readonly<Record<string, unknown>>, source: ListSource): ReadList {
  const models = new Map<string, KnownModel>();
  const images = new Map<string, Record<string, string>>();
  const skipped: string[] = [];
  for (const [key, entry] of Object.entries(entries)) {
    if (typeof entry !== "object" || entry === null) continue;
    const place = readListId(key, { ...entry });
    const fields: ListEntry = { ...findFacts(entries, key, place), ...entry };
    if (!place || isLeftOut(fields, source)) continue;
    try {
      if (place.imageSize) addImage(images, { ...place, imageSize: place.imageSize }, fields);
      else addModel(models, { ...place, ...readFacts(place.id, fields, source) }, key);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      skipped.push(`${key}: ${error.message}`);
    }
  }
  return { models: withInRegionCosts(withImages(models, images)), skipped };
}

/**
 * Returns what an entry without limits shares with the entry of its model in no data zone: everything but
 * costs and dates.
 */
function findFacts(
  entries: Readonly<Record<string, unknown>>,
  key: string,
  place: ListId | undefined,
): ListEntry {
  const model = place?.model;
  const whole = model === undefined ? undefined : entries[key.slice(0, key.indexOf("/") + 1) + model];
  if (typeof whole !== "object" || whole === null) return {};
  return Object.fromEntries(Object.entries(whole).filter(([name]) => /^(max_|supports_|mode$)/.test(name)));
}

/** Also leaves out Fireworks' models without a source: hundreds of old ones, at prices by size. */
function isLeftOut(entry: ListEntry, { checked }: ListSource): boolean {
  if (MODES[textIn(entry, "mode") ?? ""] === undefined) return true;
  const endpoints = entry.supported_endpoints;
  if (Array.isArray(endpoints) && endpoints.length > 0 && endpoints.every((path) => /realtime/.test(path)))
    return true;
  if (entry.litellm_provider === "fireworks_ai" && entry.source === undefined) return true;
  const ends = textIn(entry, "deprecation_date");
  return ends !== undefined && Date.parse(checked) - Date.parse(ends) > ENDED_DAYS_MAX * DAY_MS;
}

/** Of two entries of one model, that without a prefix is the older one of the list. */
function addModel(models: Map<string, KnownModel>, model: KnownModel, key: string): void {
  const other = models.get(model.id);
  if (other && !Bun.deepEquals(other.cost, model.cost))
    throw new RangeError("differs from another entry of its model");
  if (!other || key.includes("/")) models.set(model.id, model);
}

function addImage(
  images: Map<string, Record<string, string>>,
  { id, imageSize }: { readonly id: string; readonly imageSize: string },
  entry: ListEntry,
): void {
  const cost = readImageCost(entry);
  if (cost !== undefined) images.set(id, { ...images.get(id), [imageSize]: cost });
}

/** Adds the costs per size to models that are sold by images. Models that are sold by tokens keep their tokens. */
function withImages(
  models: ReadonlyMap<string, KnownModel>,
  images: ReadonlyMap<string, Readonly<Record<string, string>>>,
): readonly KnownModel[] {
  return [...models.values()].map((model) => {
    const sizes = images.get(model.id);
    if (!sizes || model.cost) return model;
    const whole = model.unit_cost?.image;
    const dearest = Math.max(...Object.values({ ...sizes, whole: String(whole ?? 0) }).map(Number));
    // One cost for every size cannot stand beside costs per size. The dearest of all is never below the true one.
    const image =
      whole === undefined ? sizes : (Object.values(sizes).find((cost) => Number(cost) === dearest) ?? whole);
    return { ...model, unit_cost: { image } };
  });
}

/** Reads everything of an entry but its id. Throws RangeError, with what is implausible. */
function readFacts(
  id: string,
  entry: ListEntry,
  { list, checked }: ListSource,
): Omit<KnownModel, "id" | "model"> {
  const mode = MODES[textIn(entry, "mode") ?? ""] ?? "chat";
  const cost = readTokenCost(entry, mode);
  const unitCost = readUnitCost(entry, mode);
  const limits = readLimits(entry, mode);
  // A unit is what is charged where both are listed for speech, searches and images. Transcripts are charged by tokens.
  const isByUnit =
    unitCost !== undefined && (mode !== "transcription" || cost === undefined) && !(mode === "image" && cost);
  const long = readLongCost(entry, mode);
  const otherCost = readOtherCost(entry, mode, id);
  const regional = cost && readRegionalFactor(entry);
  const ends = readDay(textIn(entry, "deprecation_date"));
  const facts = {
    mode,
    ...limits,
    ...(cost && !isByUnit ? { cost } : {}),
    ...(long && mode === "chat" ? { long } : {}),
    ...(isByUnit ? { unit_cost: unitCost } : {}),
    ...(otherCost ? { other_cost: otherCost } : {}),
    ...(regional ? { regional } : {}),
    can: readCapabilities(entry),
    ...readTraits(entry, id),
    ...(entry.mode === "responses" ? { responses_only: true as const } : {}),
    ...(ends ? { ends } : {}),
    source: readSource(textIn(entry, "source")) ?? list,
    since: checked,
  };
  checkCost(facts);
  return facts;
}

/** Reads window and output limit. The list's `max_tokens` stands for either one where it lacks it. */
function readLimits(
  entry: ListEntry,
  mode: KnownMode,
): Pick<KnownModel, "context_window" | "max_input_tokens" | "max_output_tokens"> {
  const input = numberIn(entry, "max_input_tokens") ?? numberIn(entry, "max_tokens");
  if (LIMITLESS.includes(mode)) return readFreeLimits(input, numberIn(entry, "max_output_tokens"));
  if (!input) throw new RangeError("has no context window");
  if (!Number.isSafeInteger(input) || input < 0)
    throw new RangeError("has a context window that is no count");
  if (mode !== "chat") return { context_window: input };
  const output = numberIn(entry, "max_output_tokens") ?? numberIn(entry, "max_tokens");
  if (!output) throw new RangeError("has no output limit");
  if (!Number.isSafeInteger(output) || output < 0)
    throw new RangeError("has an output limit that is no count");
  if (output > input) throw new RangeError("has an output limit above its window");
  if (!INPUT_LIMITS.includes(input)) return { context_window: input, max_output_tokens: output };
  return { context_window: input + output, max_input_tokens: input, max_output_tokens: output };
}

/** Reads the limits of a model that need none: where they are no counts or contradict each other, it has none. */
function readFreeLimits(
  input: number | undefined,
  output: number | undefined,
): ReturnType<typeof readLimits> {
  const [window, max] = [input, output].map((tokens) =>
    Number.isSafeInteger(tokens) && tokens ? tokens : undefined,
  );
  if (window === undefined) return {};
  const isFit = max !== undefined && max <= window;
  return { context_window: window, ...(isFit ? { max_output_tokens: max } : {}) };
}

function readCapabilities(entry: ListEntry): readonly Capability[] {
  return CAPABILITIES.filter((capability) => STATED[capability].some((name) => entry[name] === true));
}

/**
 * Reads how the model reasons, where the list states it: for Anthropic's models, and for efforts by name. OpenAI's
 * models that take an effort take no sampling parameters; its chat variants take none of the efforts listed.
 */
function readTraits(entry: ListEntry, id: string): Pick<KnownModel, "reasoning" | "sampling"> {
  const sampling = entry.supports_sampling_params === false ? { sampling: false } : {};
  if (entry.supports_adaptive_thinking === true) return { reasoning: "adaptive", ...sampling };
  const hasEffort = Object.keys(entry).some((name) => EFFORT.test(name) && entry[name] === true);
  if (!hasEffort || /-chat\b/.test(id)) return sampling;
  return { reasoning: "effort", ...(/^(openai|azure|azure_ai)\//.test(id) ? { sampling: false } : sampling) };
}

function readDay(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
    ? text
    : undefined;
}

/** Keeps an address without a query that is too long for a line. */
function readSource(text: string | undefined): string | undefined {
  const url = text === undefined ? null : URL.parse(text);
  if (url?.protocol !== "https:") return undefined;
  const short = url.href.length > SOURCE_LENGTH_MAX ? `${url.origin}${url.pathname}` : url.href;
  return short.length > SOURCE_LENGTH_MAX ? url.origin : short;
}

type Costs = Pick<KnownModel, "mode" | "cost" | "long" | "unit_cost">;

/** Throws RangeError for a missing cost, a chat that costs nothing, and costs that contradict each other. */
function checkCost({ mode, cost, long, unit_cost: unitCost }: Costs): void {
  if (!cost && !unitCost) throw new RangeError("has no cost");
  if (!cost || mode === "moderation") return;
  const isFree = Number(cost.input) === 0 || (mode === "chat" && Number(cost.output) === 0);
  if (isFree && mode !== "image" && mode !== "speech") throw new RangeError("costs nothing");
  if (Number(cost.cached_input ?? 0) > Number(cost.input))
    throw new RangeError("has cached input that costs more than input");
  if (long && Number(long.cost.input) < Number(cost.input))
    throw new RangeError("has long input that costs less than input");
  const { tiers, ...classes } = cost;
  const listed = [classes, ...Object.values(tiers ?? {}), { long: long?.cost.output ?? "0" }];
  const dearest = Math.max(...listed.flatMap((each) => Object.values(each)).map(Number));
  if (dearest > USD_PER_MILLION_MAX)
    throw new RangeError(`has a cost above ${USD_PER_MILLION_MAX} USD per million tokens`);
}
