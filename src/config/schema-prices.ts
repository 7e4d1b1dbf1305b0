import { Type } from "@sinclair/typebox";
import { MARKUP_PATTERN } from "../domain/money.ts";
import { TIERS } from "../domain/tiers.ts";
import { Mapping, Usd } from "./schema-parts.ts";

const CACHE_PRICES = {
  cached_input: Type.Optional(Usd),
  cache_write: Type.Optional(Usd),
  cache_write_1h: Type.Optional(Usd),
};

const UsdPerUnit = Type.String({
  pattern: "^\\d{1,6}(\\.\\d{1,12})?$",
  description: 'USD in quotes, such as "0.04", with at most 12 decimals',
});

/** A size, and a quality where the model has several; clients name them in their requests. */
const IMAGE_KIND = "^(?!auto\\b)[\\w.:-]{1,64}( (?!auto$)[\\w.:-]{1,64})?$";

const UNIT_PRICES = {
  search: Type.Optional(UsdPerUnit),
  image: Type.Optional(
    Type.Union(
      [
        UsdPerUnit,
        Type.Record(Type.String({ pattern: IMAGE_KIND }), UsdPerUnit, {
          additionalProperties: false,
          minProperties: 1,
          maxProperties: 64,
        }),
      ],
      { description: 'USD per image, or a mapping by size and quality such as "1024x1024 hd"' },
    ),
  ),
  million_characters: Type.Optional(
    Type.String({
      pattern: Usd.pattern ?? "",
      description: 'USD in quotes, such as "15.00", with at most 6 decimals',
    }),
  ),
  minute: Type.Optional(UsdPerUnit),
};

/** The prices of tokens under service tiers. */
const TIER_PRICES = {
  tiers: Type.Optional(
    Type.Record(
      Type.String({ pattern: `^(${TIERS.join("|")})$` }),
      Mapping({ input: Usd, output: Usd, ...CACHE_PRICES }),
      {
        additionalProperties: false,
        minProperties: 1,
        description: `a mapping of service tiers (${TIERS.join(", ")}) to their prices`,
      },
    ),
  ),
};

const ModalPrices = Mapping({
  input: Type.Optional(Usd),
  output: Type.Optional(Usd),
  cached_input: Type.Optional(Usd),
});

/** What stands beside the prices of tokens of text. */
const APART = {
  // The names are checked in `price-rules.ts`.
  tools: Type.Optional(
    Type.Record(Type.String(), UsdPerUnit, { description: "a mapping by name of a tool, with USD per call" }),
  ),
  audio_tokens: Type.Optional(ModalPrices),
  image_tokens: Type.Optional(ModalPrices),
};

export const LongPrices = Mapping({ input: Usd, output: Usd, ...CACHE_PRICES, ...TIER_PRICES });

/** Either `input` and `output`, or one unit; see `price-rules.ts`. */
const WRITTEN_PRICES = {
  input: Type.Optional(Usd),
  output: Type.Optional(Usd),
  ...CACHE_PRICES,
  ...APART,
  ...UNIT_PRICES,
  ...TIER_PRICES,
};

/** What a route costs. */
export const Prices = Mapping(WRITTEN_PRICES);

/** Either `markup` alone, or prices as of a cost; see `price-rules.ts`. */
export const Price = Mapping({
  markup: Type.Optional(
    Type.String({
      pattern: MARKUP_PATTERN,
      description: 'a factor in quotes, such as "1.15", from 0.0001 to 1000 with at most 4 decimals',
    }),
  ),
  ...WRITTEN_PRICES,
});
