import { Elysia, type Static, t } from "elysia";
import type { Account } from "../../accounts/accounts.ts";
import { markupOf } from "../../accounts/markup.ts";
import { DEMO_MODEL } from "../../demo/demo-model.ts";
import { type ClientSurface, type Model, printPrices, type Route } from "../../domain/model.ts";
import { printPrice, printUsd } from "../../domain/money.ts";
import { printUnitPrice, type UnitName } from "../../domain/units.ts";
import { GatewayError } from "../../errors.ts";
import { type Estimate, estimateCost } from "../../forecast/estimate.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { WireFormat } from "../../wire/format.ts";
import { findFormatPair } from "../../wire/format-pair.ts";
import { WIRES } from "../../wire/registry.ts";
import { createGuard, type GuardParts } from "./guard.ts";
import { accountParams } from "./keys/shapes.ts";
import { usd } from "./shapes.ts";

interface Parts extends GuardParts {
  gateway(): Gateway;
}

const price = t.String({ description: "USD per million tokens" });
const count = t.Integer({ minimum: 0 });
const tokens = t.Integer({ minimum: 0, maximum: 1_000_000_000 });

const tokenPrice = t.Object({
  input: price,
  output: price,
  cached_input: price,
  cache_write: price,
  cache_write_1h: price,
});

const model = t.Object({
  id: t.String(),
  context_window: count,
  max_output_tokens: count,
  default_max_output_tokens: count,
  price: tokenPrice,
  tier_prices: t.Nullable(
    t.Record(t.String(), tokenPrice, { description: "prices of tokens by service tier; null without any" }),
  ),
  unit_price: t.Nullable(
    t.Object({
      unit: t.String(),
      usd: t.String({ description: "USD per unit; of the dearest kind where there are several" }),
      kinds: t.Nullable(t.Record(t.String(), t.String())),
    }),
  ),
  surfaces: t.Array(t.String()),
  can: t.Nullable(t.Array(t.String(), { description: "what the model can do, where it is known" })),
  routes: t.Nullable(t.Array(t.Object({ upstream: t.String(), model: t.String() }))),
  is_demo: t.Boolean(),
});

const estimateBody = t.Object({
  model: t.String({ minLength: 1, maxLength: 256 }),
  input_tokens: t.Optional(tokens),
  text: t.Optional(t.String({ maxLength: 500_000 })),
  output_tokens: t.Optional(t.Integer({ minimum: 1, maximum: 1_000_000_000 })),
});

const estimate = t.Object({
  cost_usd: usd,
  hold_usd: usd,
  lines: t.Array(
    t.Object({
      class: t.Union([t.Literal("input"), t.Literal("output")]),
      tokens: count,
      price,
      amount_usd: usd,
    }),
  ),
  rounding_usd: usd,
});

/** The models of the catalog, and what a request would cost. */
export function modelsRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Models"))
    .get(
      "/accounts/:account/models",
      ({ actor, account }) => {
        const { catalog, upstreams } = parts.gateway();
        const print = (each: Model) => printModel(each, { upstreams, showsRoutes: actor.isOperator });
        return { items: catalog.list(markupOf(account)).map(print) };
      },
      {
        summary: "List the models with their prices",
        needs: "models.read",
        params: accountParams,
        response: t.Object({ items: t.Array(model) }),
      },
    )
    .post(
      "/accounts/:account/models/estimate",
      ({ account, body }) => estimateOf(parts.gateway(), account, body),
      {
        summary: "Estimate the cost and the hold of a request",
        needs: "models.read",
        params: accountParams,
        body: estimateBody,
        response: estimate,
      },
    );
}

type Printed = Static<typeof model>;

interface Shown {
  readonly upstreams: Gateway["upstreams"];
  readonly showsRoutes: boolean;
}

function printModel(each: Model, { upstreams, showsRoutes }: Shown): Printed {
  return {
    id: each.id,
    context_window: each.contextWindow,
    max_output_tokens: each.outputTokensMax,
    default_max_output_tokens: each.outputTokensDefault,
    price: printPrices(each.price),
    tier_prices: printTierPrices(each),
    unit_price: each.price.unit ? printUnitPrice(each.price.unit) : null,
    surfaces: surfacesOf(each, upstreams),
    can: each.can ? [...each.can] : null,
    routes: showsRoutes ? each.routes.map(printRoute) : null,
    is_demo: each.id === DEMO_MODEL.id,
  };
}

function printTierPrices({ price: { tiers } }: Model): Printed["tier_prices"] {
  if (!tiers) return null;
  return Object.fromEntries(Object.entries(tiers).map(([tier, each]) => [tier, printPrices(each)]));
}

function printRoute({ upstream, upstreamModel }: Route) {
  return { upstream, model: upstreamModel };
}

const CONVERSATIONS: readonly ClientSurface[] = ["chat", "messages", "responses", "gemini"];
const WITHOUT_OUTPUT: readonly ClientSurface[] = ["embeddings", "rerank", "moderations"];
const UNIT_SURFACES: Readonly<Record<UnitName, readonly ClientSurface[]>> = {
  search: ["rerank"],
  image: ["images", "image_edits", "image_variations"],
  character: ["speech"],
  second: ["transcriptions", "translations"],
};

/** The formats in which clients reach a model: its upstream's own, and those that are translated to it. */
function surfacesOf({ routes, outputTokensMax, price }: Model, upstreams: Gateway["upstreams"]): string[] {
  const byTokens = outputTokensMax === 0 ? WITHOUT_OUTPUT : CONVERSATIONS;
  const wires = (price.unit ? UNIT_SURFACES[price.unit.name] : byTokens).map((surface) => WIRES[surface]);
  const isReached = (wire: WireFormat) =>
    routes.some(({ upstream, upstreamModel }) =>
      findFormatPair(wire, upstreams.get(upstream)?.surfacesOf(upstreamModel) ?? []),
    );
  return wires.filter(isReached).map(({ surface }) => surface);
}

async function estimateOf(
  { catalog, tokens }: Gateway,
  account: Pick<Account, "markup" | "planMarkup">,
  body: Static<typeof estimateBody>,
): Promise<Static<typeof estimate>> {
  const found = catalog.find(body.model, markupOf(account));
  if (!found) throw new GatewayError("unknown_model");
  const { text, input_tokens: given, output_tokens: outputTokens } = body;
  const counted = given ?? (text ? (await tokens.count({ input: text, output: "" })).inputTokens : 0);
  const textBytes = text === undefined ? undefined : Buffer.byteLength(text);
  return printEstimate(estimateCost(found, { inputTokens: counted, textBytes, outputTokens }));
}

export function printEstimate({ cost, hold, lines, rounding }: Estimate): Static<typeof estimate> {
  return {
    cost_usd: printUsd(cost),
    hold_usd: printUsd(hold),
    lines: lines.map(({ name, tokens: number, price: picos, amount }) => ({
      class: name,
      tokens: number,
      price: printPrice(picos),
      amount_usd: printUsd(amount),
    })),
    rounding_usd: printUsd(rounding),
  };
}
