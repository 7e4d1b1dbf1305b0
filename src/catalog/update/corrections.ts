import type { KnownClasses, KnownModel } from "../known-models.ts";
import type { ListSource } from "./read-list.ts";

/** Facts that the list has wrong or not at all, with a source of their own. */
interface Correction {
  readonly ids: readonly string[];
  /** What the list had when the correction was written; `undefined` for models that it lacked. */
  readonly instead: Instead | undefined;
  readonly facts: Facts;
  readonly source: string;
}

interface Facts extends Partial<Pick<KnownModel, "context_window" | "can" | "regional">> {
  readonly cost?: Partial<KnownClasses>;
}

interface Instead extends Pick<Facts, "context_window"> {
  /** A class that the list does not have is `undefined`. */
  readonly cost?: Partial<Record<keyof KnownClasses, string | undefined>>;
}

const FABLE = {
  context_window: 1_000_000,
  cost: {
    input: "8.00",
    output: "40.00",
    cached_input: "0.20",
    cache_write: "10.00",
    cache_write_1h: "16.00",
  },
  can: ["prompt_caching"],
} as const;
/** Ten percent above the global cost. */
const REGIONAL_FABLE = {
  ...FABLE,
  cost: {
    input: "8.80",
    output: "44.00",
    cached_input: "0.22",
    cache_write: "11.00",
    cache_write_1h: "17.60",
  },
} as const;
const CLAUDE_PRICES = "https://platform.claude.com/docs/en/about-claude/pricing";
const BEDROCK_PRICES = "https://aws.amazon.com/bedrock/pricing/";
const ZAI_PRICES = "https://docs.z.ai/guides/overview/pricing";

/**
 * Found with genai-prices 0.2.3. An output limit that no list has stays unknown: the configuration must name it.
 */
const CORRECTIONS: readonly Correction[] = [
  {
    ids: ["anthropic/claude-fable-5-2", "anthropic/claude-mythos-5-2"],
    instead: undefined,
    facts: FABLE,
    source: CLAUDE_PRICES,
  },
  {
    ids: ["vertex/claude-fable-5-2"],
    instead: undefined,
    facts: { ...FABLE, regional: "1.10" },
    source: "https://cloud.google.com/model-garden/partner-models/pricing",
  },
  {
    ids: ["bedrock/global.anthropic.claude-fable-5-2", "bedrock/global.anthropic.claude-mythos-5-2"],
    instead: undefined,
    facts: FABLE,
    source: BEDROCK_PRICES,
  },
  {
    ids: ["fable", "mythos"].flatMap((name) =>
      ["", "us.", "eu."].map((prefix) => `bedrock/${prefix}anthropic.claude-${name}-5-2`),
    ),
    instead: undefined,
    facts: REGIONAL_FABLE,
    source: BEDROCK_PRICES,
  },
  {
    ids: ["mistral/mistral-large-4", "mistral/mistral-large-4-0"],
    instead: { cost: { input: "1.36", output: "4.18", cached_input: "0.14" } },
    facts: { cost: { input: "0.70", output: "2.10", cached_input: "0.07" } },
    source: "https://docs.mistral.ai/inference/pricing",
  },
  {
    ids: ["azure/gpt-3.5-turbo", "azure/gpt-35-turbo"],
    instead: { context_window: 4_097 },
    facts: { context_window: 16_385 },
    source: "https://developers.openai.com/api/docs/models/gpt-3.5-turbo",
  },
  ...Object.entries({ "": "0.11", "-air": "0.03", "-airx": "0.22", "-x": "0.45", v: "0.11" }).map(
    ([variant, cached]): Correction => ({
      ids: [`zai/glm-4.5${variant}`],
      instead: { cost: { cached_input: undefined } },
      facts: { cost: { cached_input: cached } },
      source: ZAI_PRICES,
    }),
  ),
];

/** A list with its corrections, and those that no longer fit it. */
interface CorrectedList {
  readonly models: readonly KnownModel[];
  /** Corrections that the list has overtaken, by id. They are not applied, and should be removed. */
  readonly overtaken: readonly string[];
}

/** Applies the corrections to a list that was read, wherever it still has what they replace. */
export function correctList(
  models: readonly KnownModel[],
  { checked }: Pick<ListSource, "checked">,
  corrections: readonly Correction[] = CORRECTIONS,
): CorrectedList {
  const byId = new Map(models.map((model) => [model.id, model]));
  const overtaken: string[] = [];
  for (const { ids, instead, facts, source } of corrections) {
    for (const id of ids) {
      const before = byId.get(id);
      if (fits(before, instead))
        byId.set(id, { ...createModel(id, checked), ...before, ...merge(before, facts), source });
      else overtaken.push(id);
    }
  }
  return { models: [...byId.values()], overtaken };
}

function createModel(id: string, checked: string): KnownModel {
  return { id, mode: "chat", can: [], source: "", since: checked };
}

function merge(before: KnownModel | undefined, { cost, ...facts }: Facts): Partial<KnownModel> {
  if (!cost) return facts;
  const { input = "", output = "", ...others } = { ...before?.cost, ...cost };
  return { ...facts, cost: { input, output, ...others } };
}

/** Whether a list still has what a correction replaces: each class that it names, and the window. */
function fits(before: KnownModel | undefined, instead: Correction["instead"]): boolean {
  if (!before || !instead) return before === instead;
  const { cost = {}, context_window: window } = instead;
  const had: Partial<KnownClasses> = before.cost ?? {};
  const hasCosts = Object.entries({ ...cost }).every(
    ([name, value]) => had[name as keyof KnownClasses] === value,
  );
  return hasCosts && (window === undefined || before.context_window === window);
}
