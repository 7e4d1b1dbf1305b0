import { readPrice } from "../catalog/prices.ts";
import { readTraits } from "../catalog/traits.ts";
import type { Model } from "../domain/model.ts";

const price = readPrice({ input: "0.50", output: "1.50" });

/** The only model of a gateway without a configured catalog. The demo upstream serves it. */
export const DEMO_MODEL: Model = {
  id: "demo",
  routes: [
    {
      upstream: "demo",
      upstreamModel: "demo",
      priority: 1,
      weight: 1,
      price,
      traits: readTraits("demo", {}),
    },
  ],
  contextWindow: 32_768,
  outputTokensMax: 4_096,
  outputTokensDefault: 1_024,
  imageTokens: 2_000,
  price,
  createdAtS: Date.UTC(2026, 0, 1) / 1_000,
};
