import { compareConfigs, keepStartSettings } from "../../src/config/changes.ts";
import type { Config } from "../../src/config/config.ts";
import type { Model, Price, Protocol } from "../../src/domain/model.ts";
import { parsePrice } from "../../src/domain/money.ts";
import type { Limits } from "../../src/limiter/limiter.ts";
import type { UpstreamConfig } from "../../src/upstream/upstream.ts";
import { drawInteger, drawOne, type RandomSource } from "../support/seeded-random.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream, TEST_PRICE } from "../support/test-catalog.ts";
import { testConfig } from "../support/test-config.ts";
import type { SimulatedGateway } from "./gateway.ts";
import type { Misfortune } from "./misfortunes.ts";
import type { World } from "./world.ts";

/** Tokens that an upstream may report at most, so that more of them are a lie. */
export const CONTEXT_WINDOW = 1_000;
export const MODEL_IDS = ["one", "two"] as const;

const UPSTREAM_NAMES = ["north", "south", "west"] as const;
const PROTOCOLS: Readonly<Record<string, Protocol>> = { south: "anthropic", west: "gemini" };
const TIMEOUTS = { connectMs: 3_000, firstOutputMs: 15_000, idleMs: 20_000, totalMs: 180_000 };
/** A gateway looks at its file once in so many milliseconds. */
const LOOK_MS = 3_000;

/** Draws the configuration file that the gateways of a world start with. */
export function drawConfig(folder: string, draw: RandomSource, upstreamsMax = Infinity): Config {
  const upstreams = UPSTREAM_NAMES.slice(0, Math.min(drawInteger(draw, 1, 3), upstreamsMax)).map(upstreamOf);
  const routes = upstreams.map(({ name }, place) =>
    scriptedRoute(name, "theirs", { priority: 1 + (place % 2) }),
  );
  const models = MODEL_IDS.map((id) => modelOf(id, routes));
  const accountLimits = draw() < 0.3 ? drawAccountLimits(draw) : {};
  const clientDisconnect = draw() < 0.3 ? "free" : "charge_input";
  const receiptsDays = draw() < 0.1 ? drawInteger(draw, 1, 2) : undefined;
  return testConfig(folder, { upstreams, models, accountLimits, clientDisconnect, receiptsDays });
}

function upstreamOf(name: string): UpstreamConfig {
  const pool =
    name === "north" ? { apiKey: "", keys: poolOf(name, [1, 1]) } : { apiKey: secretOf(name, "sole") };
  return scriptedUpstream(name, PROTOCOLS[name] ?? "openai", {
    timeouts: TIMEOUTS,
    circuitFailures: 5,
    ...pool,
  });
}

/** Keys with these weights: "a", "b" and so on. */
function poolOf(name: string, weights: readonly number[]): NonNullable<UpstreamConfig["keys"]> {
  return weights.map((weight, place) => {
    const label = "abc"[place] ?? "";
    return { label, apiKey: secretOf(name, label), weight, limits: {} };
  });
}

/** The secret of a key shows which one it is. */
function secretOf(name: string, label: string): string {
  return `${name}-${label}`;
}

function modelOf(id: string, routes: Model["routes"]): Model {
  const price = routes[0]?.price ?? TEST_PRICE;
  return scriptedModel(id, "openai", { routes, price, contextWindow: CONTEXT_WINDOW });
}

function drawAccountLimits(draw: RandomSource): Limits {
  return { concurrentRequests: drawInteger(draw, 5, 50), tokensPerMinute: drawInteger(draw, 5_000, 90_000) };
}

type Change = (config: Config, draw: RandomSource) => Config;

/** What an operator may change in the file. */
const CHANGES = {
  prices_changed(config, draw) {
    const id = drawOne(draw, config.models).id;
    const models = config.models.map((model) =>
      model.id === id
        ? modelOf(
            id,
            model.routes.map((route) => ({ ...route, price: drawPrice(draw) })),
          )
        : model,
    );
    return { ...config, models };
  },
  routes_changed(config, draw) {
    const names = subset(draw, UPSTREAM_NAMES);
    const upstreams = names.map(
      (name) => config.upstreams.find((upstream) => upstream.name === name) ?? upstreamOf(name),
    );
    const models = subset(draw, MODEL_IDS).map((id) => modelOf(id, drawRoutes(names, draw)));
    return { ...config, upstreams, models };
  },
  timeouts_changed(config, draw) {
    const { name } = drawOne(draw, config.upstreams);
    const timeouts = {
      connectMs: drawOne(draw, [5, 3_000]),
      firstOutputMs: drawOne(draw, [500, 15_000, 30_000]),
      idleMs: drawOne(draw, [1_000, 20_000]),
      totalMs: drawOne(draw, [5_000, 60_000, 180_000]),
    };
    const upstreams = config.upstreams.map((upstream) =>
      upstream.name === name ? { ...upstream, timeouts } : upstream,
    );
    return { ...config, upstreams };
  },
  pool_changed(config, draw) {
    const weights = Array.from({ length: drawInteger(draw, 1, 3) }, () => drawInteger(draw, 1, 5));
    const upstreams = config.upstreams.map((upstream) =>
      upstream.keys ? { ...upstream, keys: poolOf(upstream.name, weights) } : upstream,
    );
    return { ...config, upstreams };
  },
  limits_changed: (config, draw) => ({
    ...config,
    keyLimits: draw() < 0.5 ? {} : drawKeyLimits(draw),
    accountLimits: draw() < 0.5 ? {} : drawAccountLimits(draw),
  }),
  disconnect_changed: (config) => ({
    ...config,
    clientDisconnect: config.clientDisconnect === "free" ? "charge_input" : "free",
  }),
  start_setting_changed: (config, draw) => ({
    ...config,
    holdTtlMs: drawOne(draw, [45_000, 60_000, 90_000]),
  }),
} as const satisfies Partial<Record<Misfortune, Change>>;

function drawRoutes(names: readonly string[], draw: RandomSource): Model["routes"] {
  const routes = subset(draw, names).map((name) =>
    scriptedRoute(name, "theirs", { priority: drawInteger(draw, 1, 2), price: drawPrice(draw) }),
  );
  return routes.toSorted((one, other) => one.priority - other.priority);
}

/** Some prices are no whole nanos, so that costs are rounded up. */
function drawPrice(draw: RandomSource): Price {
  const [input, output] = drawOne(draw, [
    ["1.00", "2.00"],
    ["0.0333", "0.0777"],
    ["0.50", "3.00"],
    ["4.00", "1.00"],
  ] as const);
  return { ...TEST_PRICE, input: parsePrice(input), output: parsePrice(output) };
}

/** Limits of a minute that some keys reach. */
export function drawKeyLimits(draw: RandomSource): Limits {
  return {
    ...(draw() < 0.3 && { requestsPerMinute: Math.ceil(2 ** (draw() * 9)) }),
    ...(draw() < 0.3 && { concurrentRequests: Math.ceil(2 ** (draw() * 6)) }),
    ...(draw() < 0.2 && { tokensPerMinute: drawInteger(draw, 200, 20_000) }),
  };
}

/** At least one of the items, in their order. */
function subset<Item>(draw: RandomSource, items: readonly Item[]): readonly Item[] {
  const sure = drawOne(draw, items);
  return items.filter((item) => item === sure || draw() < 0.6);
}

/** May change the file, which each gateway sees at a time of its own. */
export function strikeConfiguration(world: World): void {
  const { scheduler, luck } = world;
  const { draw } = scheduler;
  for (const [name, change] of Object.entries(CHANGES) as [keyof typeof CHANGES, Change][]) {
    if (!luck.strikes(name)) continue;
    world.config = Object.freeze(change(world.config, draw));
    for (const gateway of world.alive()) reloadLater(world, gateway, draw() * LOOK_MS);
  }
}

function reloadLater(world: World, gateway: SimulatedGateway, ms: number): void {
  const reload = () => gateway.apply(nextSettings(gateway.config(), world.config, world));
  world.scheduler.after(ms, "the configuration is read again", reload, gateway.machine);
}

/** What of a file applies to a running gateway, as its process decides it. */
function nextSettings(running: Config, next: Config, { scheduler }: World): Config {
  const { settings, models, upstreams, needRestart } = compareConfigs(running, next);
  const names = [...settings, ...Object.keys(models), ...Object.keys(upstreams)];
  scheduler.note(
    `reloads ${names.join(", ") || "nothing"}, waits for a restart: ${needRestart.join(", ") || "nothing"}`,
  );
  return keepStartSettings(running, next);
}
