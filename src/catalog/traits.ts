import type { ModelTraits } from "../domain/model.ts";

/** What an operator may say of a route's model. */
export interface TraitEntry {
  readonly reasoning?: ModelTraits["reasoning"] | undefined;
  readonly sampling?: boolean | undefined;
}

/** Families whose traits are known, by the upstream's name for the model; the first that matches counts. */
const FAMILIES: readonly (readonly [name: RegExp, traits: ModelTraits])[] = [
  [/claude-3[-.]7/, { reasoning: "budget", sampling: true }],
  // Up to 4.5; behind it may stand a date or a word, but no further number.
  [
    /claude-(opus|sonnet|haiku)-4([-.][0-5])?(?!\d)(?![-.]\d(?!\d{7}))/,
    { reasoning: "budget", sampling: true },
  ],
  [/claude-(instant|v?[1-3])/, { reasoning: "none", sampling: true }],
  [/claude-(opus|sonnet|haiku)-4[-.]6(?!\d)/, { reasoning: "adaptive", sampling: true }],
  [/claude/, { reasoning: "adaptive", sampling: false }],
  [/(^|\/)gpt-5[\w.]*-chat/, { reasoning: "none", sampling: true }],
  [/(^|\/)(o[1-9]|gpt-5)/, { reasoning: "effort", sampling: false }],
  [/gpt-oss/, { reasoning: "effort", sampling: true }],
];

const UNKNOWN: ModelTraits = { reasoning: "none", sampling: true };

/** A model's traits: as the operator says, else as its name tells. */
export function readTraits(upstreamModel: string, entry: TraitEntry): ModelTraits {
  const [, known] = FAMILIES.find(([name]) => name.test(upstreamModel)) ?? [undefined, UNKNOWN];
  return { reasoning: entry.reasoning ?? known.reasoning, sampling: entry.sampling ?? known.sampling };
}
