import { readFileSync } from "node:fs";
import type { Capability } from "../domain/model.ts";
import type { Tier } from "../domain/tiers.ts";
import { programFile } from "../program-files.ts";

/** What a model is for. Tollgate's surfaces follow from it. */
export type KnownMode = "chat" | "embedding" | "rerank" | "moderation" | "image" | "speech" | "transcription";

/** Decimal USD per million tokens. A class without a member costs what its default in the configuration is. */
export interface KnownClasses {
  readonly input: string;
  readonly output: string;
  readonly cached_input?: string;
  readonly cache_write?: string;
  readonly cache_write_1h?: string;
}

/** The cost of each class, and under each service tier that the provider sells. */
export interface KnownCost extends KnownClasses {
  readonly tiers?: Readonly<Partial<Record<Tier, KnownClasses>>>;
}

/** Decimal USD per unit of a model that is not sold by tokens. One member, named as in the configuration. */
export interface KnownUnitCost {
  /** USD per image, or by size and quality: "1024x1024 high". */
  readonly image?: string | Readonly<Record<string, string>>;
  readonly million_characters?: string;
  /** USD per minute of audio. */
  readonly minute?: string;
  readonly search?: string;
}

/** One line of `known-models.jsonl`. Dates are `YYYY-MM-DD`, in UTC. */
export interface KnownModel {
  /** `PROVIDER/MODEL`, where MODEL may contain a region and slashes. */
  readonly id: string;
  /** The provider's name of the model, where it is not the id behind its first slash. */
  readonly model?: string;
  readonly mode: KnownMode;
  /** Tokens of input and output together; for embeddings, of each text. */
  readonly context_window?: number;
  /** Tokens of input, where they are limited to less than the window. */
  readonly max_input_tokens?: number;
  readonly max_output_tokens?: number;
  readonly cost?: KnownCost;
  /** The cost of requests with more than `above_input_tokens`. */
  readonly long?: { readonly above_input_tokens: number; readonly cost: KnownCost };
  readonly unit_cost?: KnownUnitCost;
  /** What else the provider charges for, and no price holds: audio tokens (per million), or each request. */
  readonly other_cost?: {
    readonly audio_input?: string;
    readonly audio_output?: string;
    readonly request?: string;
  };
  /** The factor on every cost of tokens at the provider's regional endpoints, such as "1.10". */
  readonly regional?: string;
  readonly can: readonly Capability[];
  readonly reasoning?: "none" | "effort" | "budget" | "adaptive";
  readonly sampling?: boolean;
  /** Whether the provider serves it in the responses format alone. */
  readonly responses_only?: true;
  /** The day from which the provider may no longer serve it. */
  readonly ends?: string;
  /** Where the list found the price, or else the list itself. */
  readonly source: string;
  /** The day of the first update that saw this price. */
  readonly since: string;
  /** The last day that the list had the model, where the newest list lacks it. */
  readonly last_seen?: string;
}

/** The first line of the file: which list it was made from, and on which day that list was read. */
export interface KnownSource {
  readonly list: string;
  readonly checked: string;
}

/** The catalog of known models. Keeps the text of the file, about half a megabyte, until it is collected. */
export interface KnownModels {
  readonly source: KnownSource;
  find(id: string): KnownModel | undefined;
  /** Returns the models in the order of their ids. */
  list(): readonly KnownModel[];
  /** Returns the day on which a list last had the price of the model. */
  checkedOn(model: KnownModel): string;
}

/** Path of the data, one JSON object a line, made by `bun run catalog:update`. */
export const KNOWN_MODELS_FILE = "src/catalog/known-models.jsonl";

/** Reads the catalog. Takes about a millisecond, so that nothing keeps it: only the lines that are asked for are parsed. */
export function readKnownModels(text = readFileSync(programFile(KNOWN_MODELS_FILE), "utf8")): KnownModels {
  const head = text.indexOf("\n");
  const source: KnownSource = JSON.parse(text.slice(0, head));

  function find(id: string): KnownModel | undefined {
    const start = text.indexOf(`\n{"id":${JSON.stringify(id)},`);
    return start < 0 ? undefined : JSON.parse(text.slice(start + 1, text.indexOf("\n", start + 1)));
  }

  return {
    source,
    find,
    list: () =>
      text
        .slice(head + 1)
        .split("\n")
        .filter((line) => line !== "")
        .map((line): KnownModel => JSON.parse(line)),
    checkedOn: (model) => model.last_seen ?? source.checked,
  };
}

/** Returns the provider of an id: what stands before its first slash. */
export function providerOf({ id }: Pick<KnownModel, "id">): string {
  return id.slice(0, id.indexOf("/"));
}

/** Returns the provider's name of a model. */
export function upstreamModelOf({ id, model }: Pick<KnownModel, "id" | "model">): string {
  return model ?? id.slice(id.indexOf("/") + 1);
}
