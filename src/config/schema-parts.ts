import { type TObject, type TProperties, Type } from "@sinclair/typebox";

// Each `description` completes a problem: "…, expected <description>".
export const TOKENS_MAX = 100_000_000;

export const Text = (description: string) => Type.String({ minLength: 1, description });

export const Count = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` });

export const Flag = Type.Boolean({ description: "true or false" });

/** One of at least two words. */
export function OneOf<const Words extends readonly string[]>(...words: Words) {
  const description = `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
  const literals = words.map((word) => Type.Literal(word));
  return Type.Unsafe<Words[number]>(Type.Union(literals, { description }));
}

export const Usd = Type.String({
  pattern: "^\\d{1,10}(\\.\\d{1,6})?$",
  description: 'USD per million tokens in quotes, such as "3.00", with at most 6 decimals',
});

export function Mapping<T extends TProperties>(properties: T): TObject<T> {
  return Type.Object(properties, { additionalProperties: false, description: "a mapping" });
}

const BETA = "^[\\w.:-]{1,128}$";

export const BetaNames = Type.Record(
  Type.String({ pattern: BETA }),
  Type.Union([Type.String({ pattern: BETA }), Type.Literal(false)], {
    description: "the host's name of a beta, or false",
  }),
  { maxProperties: 64, description: "a mapping of betas to the host's names", additionalProperties: false },
);

export const Betas = Type.Array(
  Type.String({
    pattern: "^[\\w.:-]{1,128}\\*?$",
    description: "the name of a beta, or its beginning and a *",
  }),
  { maxItems: 64, description: "a list of betas" },
);
