import type { ModelTraits, Route } from "../domain/model.ts";

/** The traits of a route in the configuration. */
export interface TraitEntry {
  readonly reasoning?: ModelTraits["reasoning"] | undefined;
  readonly sampling?: boolean | undefined;
}

/** Known traits by the upstream's name of the model. The first match counts. */
const FAMILIES: readonly (readonly [name: RegExp, traits: ModelTraits])[] = [
  [/claude-3[-.]7/, { reasoning: "budget", sampling: true }],
  // Up to 4.5. A date or a word may follow, but no further version number.
  [
    /claude-(opus|sonnet|haiku)-4([-.][0-5])?(?!\d)(?![-.]\d(?!\d{7}))/,
    { reasoning: "budget", sampling: true },
  ],
  [/claude-(instant|v?[1-3])/, { reasoning: "none", sampling: true }],
  [/claude-(opus|sonnet|haiku)-4[-.]6(?!\d)/, { reasoning: "adaptive", sampling: true }],
  [/claude/, { reasoning: "adaptive", sampling: false }],
  [/(^|\/)gpt-5[\w.]*-chat/, { reasoning: "none", sampling: true }],
  [/(^|\/)(o[1-9]|gpt-5)/, { reasoning: "effort", sampling: false }],
  // Their thinking is configured by an effort at Google too; images, speech and embeddings have none.
  [
    /gemini-(2[.]5|[3-9][\d.]*)-(pro|flash)(?!.*-(image|tts|audio|live))/,
    { reasoning: "effort", sampling: true },
  ],
  [/gpt-oss/, { reasoning: "effort", sampling: true }],
];

const UNKNOWN: ModelTraits = { reasoning: "none", sampling: true };

/** Returns the traits of a model: those of the configuration, else those known by its name. */
export function readTraits(upstreamModel: string, entry: TraitEntry): ModelTraits {
  const [, known] = FAMILIES.find(([name]) => name.test(upstreamModel)) ?? [undefined, UNKNOWN];
  return { reasoning: entry.reasoning ?? known.reasoning, sampling: entry.sampling ?? known.sampling };
}

/** Returns the abilities of a route. A list of prompt caching alone says nothing of what requests need. */
export function readAbilities(can: Route["can"]): Route["can"] {
  return can?.length === 1 && can[0] === "prompt_caching" ? undefined : can;
}
