import { Elysia } from "elysia";
import type { Caller } from "../accounts/keys/key.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { printTime } from "../domain/id-time.ts";
import { printModalPrice } from "../domain/modalities.ts";
import { type Capability, type Model, type Price, printPrices, printTiers } from "../domain/model.ts";
import { printToolFees } from "../domain/tool-fees.ts";
import { printUnitPrice } from "../domain/units.ts";
import { GatewayError } from "../errors.ts";
import { mayUse } from "../gateway/plan.ts";
import { answerCaller } from "./answer-caller.ts";
import { rejectKeyInUrl } from "./gemini.ts";
import type { HttpParts } from "./http-parts.ts";
import { pathOf } from "./identity.ts";

const ROOT = "/v1/models";
const GEMINI_ROOT = "/v1beta/models";

/**
 * `GET /v1/models` and `/v1/models/{id}`: one shape that OpenAI and Anthropic SDKs both read. Google's clients get
 * theirs, below `/v1beta` and by their header.
 *
 * @see https://platform.openai.com/docs/api-reference/models
 * @see https://docs.anthropic.com/en/api/models-list
 */
export function modelRoutes(parts: HttpParts) {
  const list: Answer = (request) =>
    answerCaller(request, parts, ({ key, markup }, { catalog }) => {
      const isGoogle = readForm(request);
      const models = catalog.list(markup).filter((model) => mayUse(key, model.id));
      return isGoogle ? printGeminiList(models) : printList(models);
    });
  const one: Answer = (request) =>
    answerCaller(request, parts, (caller, { catalog }) => {
      const isGoogle = readForm(request);
      const model = findModel(catalog, caller, request);
      return isGoogle ? printGeminiModel(model) : printModel(model);
    });
  return new Elysia()
    .get(ROOT, ({ request }) => list(request))
    .get(`${ROOT}/*`, ({ request }) => one(request))
    .get(GEMINI_ROOT, ({ request }) => list(request))
    .get(`${GEMINI_ROOT}/*`, ({ request }) => one(request));
}

type Answer = (request: Request) => Promise<Response>;

/** Returns whether a client reads Google's form. Throws `key_in_url` for one that sends its key as Google's may. */
function readForm(request: Request): boolean {
  const isGoogle = request.headers.has("x-goog-api-key") || pathOf(request).startsWith(GEMINI_ROOT);
  if (isGoogle) rejectKeyInUrl(request);
  return isGoogle;
}

/** An id may contain slashes, plain or as `%2F`. A model that the key may not use is `unknown_model`. */
function findModel(catalog: Catalog, { key, markup }: Caller, request: Request): Model {
  const path = pathOf(request);
  const root = path.startsWith(GEMINI_ROOT) ? GEMINI_ROOT : ROOT;
  const model = catalog.find(decodePath(path.slice(root.length + 1)), markup);
  if (!model || !mayUse(key, model.id)) throw new GatewayError("unknown_model");
  return model;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new GatewayError("unknown_model");
  }
}

function printList(models: readonly Model[]): object {
  return {
    object: "list",
    data: models.map(printModel),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  };
}

function printModel(model: Model): object {
  return {
    id: model.id,
    object: "model",
    created: model.createdAtS,
    owned_by: "tollgate",
    type: "model",
    display_name: model.id,
    created_at: printTime(model.createdAtS * 1000),
    context_window: model.contextWindow,
    max_input_tokens: model.contextWindow,
    max_tokens: model.outputTokensMax,
    default_max_output_tokens: model.outputTokensDefault,
    price_usd_per_million_tokens: printPrices(model.price),
    ...(model.price.tiers ? { tier_prices_usd_per_million_tokens: printTiers(model.price) } : {}),
    ...(model.can ? printAbilities(model.can) : {}),
    ...(model.price.unit ? { price_usd_per_unit: printUnitPrice(model.price.unit) } : {}),
    ...(model.price.tools ? { price_usd_per_call: printToolFees(model.price.tools) } : {}),
    ...printModalities(model.price),
  };
}

/** The prices of audio and image tokens, where they differ from text. */
function printModalities({ audio, image }: Price): object {
  if (!audio && !image) return {};
  const prices = {
    ...(audio && { audio: printModalPrice(audio) }),
    ...(image && { image: printModalPrice(image) }),
  };
  return { price_usd_per_million_tokens_apart: prices };
}

const MODALITIES: readonly (readonly [ability: Capability, modality: string])[] = [
  ["images", "image"],
  ["documents", "file"],
  ["audio", "audio"],
];

/** What a model can do: by the words of the configuration, and in the shape that OpenRouter's clients read. */
function printAbilities(can: readonly Capability[]): object {
  const others = MODALITIES.filter(([ability]) => can.includes(ability)).map(([, modality]) => modality);
  return { can, architecture: { input_modalities: ["text", ...others] } };
}

const GENERATION = ["generateContent", "streamGenerateContent", "countTokens"];
const EMBEDDING = ["embedContent", "batchEmbedContents"];

/** Prints all models at once: clients follow a page token only where there is one. */
function printGeminiList(models: readonly Model[]): object {
  return { models: models.map(printGeminiModel) };
}

/**
 * Prints a model in Google's form.
 *
 * @see https://ai.google.dev/api/models
 */
function printGeminiModel({ id, contextWindow, outputTokensMax, can }: Model): object {
  return {
    name: `models/${id}`,
    baseModelId: id,
    version: "1",
    displayName: id,
    inputTokenLimit: contextWindow,
    outputTokenLimit: outputTokensMax,
    supportedGenerationMethods: outputTokensMax === 0 ? EMBEDDING : GENERATION,
    ...(can ? { thinking: can.includes("reasoning") } : {}),
  };
}
