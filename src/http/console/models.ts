import { Elysia, type Static } from "elysia";
import type { Account } from "../../accounts/accounts.ts";
import { markupOf } from "../../accounts/markup.ts";
import { DEMO_MODEL } from "../../demo/demo-model.ts";
import { printTime } from "../../domain/id-time.ts";
import { printModalPrice } from "../../domain/modalities.ts";
import { type ClientSurface, type Model, printPrices, type Route } from "../../domain/model.ts";
import { printPrice, printUsd } from "../../domain/money.ts";
import { printToolFees } from "../../domain/tool-fees.ts";
import { printUnitPrice, type UnitName } from "../../domain/units.ts";
import { GatewayError } from "../../errors.ts";
import { keepFresh } from "../../figures/kept.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { type Estimate, estimateCost } from "../../usage/forecast/estimate.ts";
import { type DayFigures, type RouteDay, readDay, readHours } from "../../usage/route-figures.ts";
import type { WireFormat } from "../../wire/format.ts";
import { findFormatPair } from "../../wire/format-pair.ts";
import { WIRES } from "../../wire/registry.ts";
import type { PartsOf } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { accountParams } from "./keys/shapes.ts";
import { estimate, estimateBody, hours, hoursQuery, model } from "./models-shapes.ts";
import { listOf } from "./shapes.ts";

type Parts = PartsOf<"gateway">;

/** The models of the catalog, and what a request would cost. */
export function modelsRoutes(parts: Parts) {
  const readFigures = keepFresh(() => readDay(parts), parts.now);
  return new Elysia()
    .use(operatorRoutes(parts))
    .use(createGuard(parts, "Models"))
    .get(
      "/accounts/:account/models",
      async ({ actor, account }) => {
        const figures = await readFigures();
        const { catalog, upstreams } = parts.gateway();
        const shown = { upstreams, figures, showsRoutes: actor.isOperator };
        return { items: catalog.list(markupOf(account)).map((each) => printModel(each, shown)) };
      },
      {
        summary: "List the models with their prices",
        needs: "models.read",
        params: accountParams,
        response: listOf(model),
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

/** How routes did in each hour of a day. The figures of routes are for operators alone. */
function operatorRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Operators"))
    .get("/operator/route-hours", ({ query }) => listHours(parts, query.model), {
      summary: "Read how the routes of one model or of all did, by hour",
      needsOperator: true,
      query: hoursQuery,
      response: hours,
    });
}

/** Of all models, lists the routes with an attempt. Throws `unknown_model`. */
async function listHours(parts: Parts, id: string | undefined): Promise<Static<typeof hours>> {
  const { catalog } = parts.gateway();
  const models = catalog.list().filter((each) => id === undefined || each.id === id);
  if (models.length === 0 && id !== undefined) throw new GatewayError("unknown_model");
  const hoursOf = await readHours(parts, id);
  const routes = models.flatMap((each) =>
    each.routes.map(({ upstream, upstreamModel }) => ({
      ...{ model: each.id, upstream, upstream_model: upstreamModel },
      hours: hoursOf({ model: each.id, upstream, upstreamModel }).map((hour) => ({
        at: printTime(hour.startMs),
        ...printAttempts(hour),
      })),
    })),
  );
  const isUsed = (route: (typeof routes)[number]) =>
    route.hours.some((hour) => hour.answered + hour.failed > 0);
  return { items: id === undefined ? routes.filter(isUsed) : routes };
}

type Printed = Static<typeof model>;

interface Shown {
  readonly upstreams: Gateway["upstreams"];
  readonly figures: DayFigures;
  readonly showsRoutes: boolean;
}

function printModel(each: Model, { upstreams, figures, showsRoutes }: Shown): Printed {
  const { tools } = each.price;
  const day = figures.ofModel(each.id);
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
    long_price: printLongPrice(each),
    tool_prices: tools ? printToolFees(tools) : null,
    apart_prices: printApart(each),
    day: day ? { success: day.success, first_output: day.firstOutput ?? null } : null,
    routes: showsRoutes ? each.routes.map((route) => printRoute(each, route, figures)) : null,
    is_demo: each.id === DEMO_MODEL.id,
  };
}

function printTierPrices({ price: { tiers } }: Model): Printed["tier_prices"] {
  if (!tiers) return null;
  return Object.fromEntries(Object.entries(tiers).map(([tier, each]) => [tier, printPrices(each)]));
}

/** The price of long input is that of the first route, as the price is. */
function printLongPrice({ longContext, routes }: Model): Printed["long_price"] {
  const long = routes[0]?.longPrice;
  if (!longContext || !long) return null;
  return { above_input_tokens: longContext.aboveInputTokens, price: printPrices(long) };
}

function printApart({ price: { audio, image } }: Model): Printed["apart_prices"] {
  if (!audio && !image) return null;
  return { audio: audio ? printModalPrice(audio) : null, image: image ? printModalPrice(image) : null };
}

function printRoute({ id }: Model, route: Route, figures: DayFigures) {
  const { upstream, upstreamModel, priority, weight, cost, can } = route;
  return {
    upstream,
    model: upstreamModel,
    priority,
    weight,
    cost: cost ? printPrices(cost) : null,
    unit_cost: cost?.unit ? printUnitPrice(cost.unit).usd : null,
    can: can ? [...can] : null,
    day: printAttempts(figures.ofRoute({ model: id, upstream, upstreamModel })),
  };
}

function printAttempts({ answered, failed, firstOutput }: RouteDay) {
  const times = firstOutput && { p50: firstOutput.p50, p95: firstOutput.p95 };
  return { answered, failed, first_output: times ?? null };
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
