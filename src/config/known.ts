import { nearestIds } from "../catalog/catalog.ts";
import {
  type KnownMode,
  type KnownModel,
  type KnownModels,
  providerOf,
  readKnownModels,
  upstreamModelOf,
} from "../catalog/known-models.ts";
import { withFees } from "../catalog/provider-fees.ts";
import { costsAt, type UpstreamPlace } from "../catalog/regional.ts";
import type { Path, Problems } from "./problems.ts";

/** What the catalog of known models filled in at one place of the file. */
export interface FilledIn {
  /** Keys of the model, and of its route with the index: `["models", "claude"]`. */
  readonly place: Path;
  /** Id of the known model. */
  readonly known: string;
  /** The members that were filled in, as if they had been written. Empty only beside `lacksResponses`. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly source: string;
  /** The last day on which the price was found in a list, `YYYY-MM-DD`. */
  readonly checked: string;
  /** The day from which the provider may no longer serve the model. */
  readonly ends?: string | undefined;
  /** The upstream of a route that cannot serve the model, because it has no `responses: true`. */
  readonly lacksResponses?: string | undefined;
}

/** A document whose models have everything that the catalog knows of them. */
interface FilledDocument {
  readonly document: object;
  readonly filled: readonly FilledIn[];
}

/** Modes whose answers have no tokens. */
const WITHOUT_OUTPUT: readonly KnownMode[] = ["embedding", "rerank", "moderation"];

/** Unknown ids beyond these are reported without the ids that are like them, which take 10 ms each to find. */
const NEAREST_SEARCHES_MAX = 20;
const NEAREST_MAX = 3;

/**
 * Fills every model and route that names a known model with what it leaves out. What is written stays. Reports
 * ids that are not in the catalog, which is read only when the document names one.
 */
export function fillKnown(document: object, problems: Problems): FilledDocument {
  const { models, upstreams } = { ...document } as { models?: unknown; upstreams?: unknown };
  if (!isMembers(models) || !Object.values(models).some(namesKnown)) return { document, filled: [] };
  const known = readKnownModels();
  const filling = {
    known,
    problems,
    upstreams: isMembers(upstreams) ? upstreams : {},
    searches: 0,
  };
  const filled: FilledIn[] = [];
  const entries = Object.entries(models).map(([id, model]) => {
    const path = ["models", id];
    return [id, isMembers(model) ? fillModel(path, model, filling, filled) : model] as const;
  });
  return { document: { ...document, models: Object.fromEntries(entries) }, filled };
}

interface Filling {
  readonly known: KnownModels;
  readonly problems: Problems;
  /** The file's upstreams by name. */
  readonly upstreams: Members;
  /** Unknown ids for which like ids were searched. */
  searches: number;
}

function namesKnown(model: unknown): boolean {
  if (!isMembers(model)) return false;
  return (
    "known" in model ||
    (Array.isArray(model.routes) && model.routes.some((route) => isMembers(route) && "known" in route))
  );
}

function fillModel(path: Path, model: Members, filling: Filling, filled: FilledIn[]): Members {
  const known = findKnown(path, model, filling);
  const own = known
    ? { ...model, ...note(path, known, valuesOfModel(model, known, filling), filling, filled) }
    : model;
  if (!Array.isArray(own.routes)) return own;
  const routes = own.routes.map((route, index) => {
    if (!isMembers(route)) return route;
    const place = [...path, "routes", index];
    const ofRoute = findKnown(place, route, filling);
    if (ofRoute)
      return {
        ...route,
        ...note(place, ofRoute, valuesOfRoute(route, ofRoute, own, filling), filling, filled, route),
      };
    if (!known || "known" in route || !isOf(route, known)) return route;
    const regional = regionalCostsOf({ model, filled: own, route }, known, filling);
    // The note of the model has the end already.
    const { ends: _ends, ...facts } = known;
    note(place, facts, regional, filling, filled, route);
    return { ...route, ...valuesOfPlainRoute(route, known), ...regional };
  });
  return { ...own, ...longContextOf(own, routes, filling), routes };
}

/** Finds the known model of a model or route. Reports an id that is not one. */
function findKnown(path: Path, { known: id }: Members, filling: Filling): KnownModel | undefined {
  if (typeof id !== "string") return undefined;
  const found = filling.known.find(id);
  if (!found) filling.problems.add([...path, "known"], "is not a known model", expectedIds(id, filling));
  return found;
}

function expectedIds(id: string, filling: Filling): string {
  filling.searches += 1;
  if (filling.searches > NEAREST_SEARCHES_MAX) return "an id that `bun tollgate models` lists";
  const ids = filling.known.list().map((model) => model.id);
  return `an id such as ${nearestIds(id, ids, NEAREST_MAX).join(", ")}`;
}

/** Returns the filled members, and records them, with an upstream that cannot serve the route. */
function note(
  path: Path,
  known: KnownModel,
  values: Members,
  filling: Filling,
  filled: FilledIn[],
  route: Members = {},
): Members {
  const lacksResponses = findLackOfResponses(route, known, filling);
  if (Object.keys(values).length > 0 || lacksResponses !== undefined) {
    filled.push({
      place: path,
      known: known.id,
      values,
      source: known.source,
      checked: filling.known.checkedOn(known),
      ends: known.ends,
      lacksResponses,
    });
  }
  return values;
}

/** Returns the upstream of a route to a model of the responses format alone, when it does not speak that. */
function findLackOfResponses(
  { upstream: name }: Members,
  known: KnownModel,
  { upstreams }: Filling,
): string | undefined {
  if (!known.responses_only || typeof name !== "string") return undefined;
  const upstream = Object.hasOwn(upstreams, name) ? upstreams[name] : undefined;
  return isMembers(upstream) && upstream.responses !== true ? name : undefined;
}

/** Limits are lowered to written ones, so that none contradicts another. */
function valuesOfModel(model: Members, known: KnownModel, { upstreams }: Filling): Members {
  const window = countOr(model.context_window, known.context_window);
  const output =
    known.max_output_tokens ?? (WITHOUT_OUTPUT.includes(known.mode) && known.cost ? 0 : undefined);
  const provider = providerOf(known);
  const hasUpstream = Object.hasOwn(upstreams, provider);
  return {
    ...missing(model, {
      context_window: known.context_window,
      max_output_tokens: output === undefined || window === undefined ? output : Math.min(output, window),
      can: known.can.length > 0 ? known.can : undefined,
      routes: hasUpstream ? [{ upstream: provider }] : undefined,
    }),
    ...mergedCost(model, "cost", withFees(known, known.cost) ?? known.unit_cost),
    ...longOf(model, known, window),
  };
}

/** A long cost that no request of the window reaches is left out, unless the model widens its window. */
function longOf(model: Members, { long }: KnownModel, window: number | undefined): Members {
  const written = model.long_context;
  if (!long || (written === undefined && long.above_input_tokens >= (window ?? 0))) return {};
  if (written !== undefined && !isMembers(written)) return {};
  const own = written ?? {};
  const above = { above_input_tokens: own.above_input_tokens ?? long.above_input_tokens };
  return { long_context: { ...own, ...above, ...mergedCost(own, "cost", long.cost) } };
}

function valuesOfRoute(route: Members, known: KnownModel, model: Members, filling: Filling): Members {
  const { cost, long } = costsAt(known, placeOf(route, filling), filling.known);
  const isLong = model.long_context !== undefined || (known.long && isReached(model, known.long));
  return {
    ...missing(route, {
      model: upstreamModelOf(known),
      reasoning: known.reasoning,
      sampling: known.sampling,
      can: known.can.length > 0 ? known.can : undefined,
      context_window: lowerThan(model.context_window, known.context_window),
      max_output_tokens: lowerThan(model.max_output_tokens, outputWithin(route, known)),
    }),
    ...mergedCost(route, "cost", withFees(known, cost) ?? known.unit_cost),
    ...(isLong ? mergedCost(route, "long_context_cost", long?.cost ?? cost) : {}),
  };
}

/**
 * Returns the costs of a plain route at a regional endpoint where they are dearer than those of its model.
 * Costs that the file writes, of the model or the route, stay.
 */
function regionalCostsOf({ model, filled, route }: PlainRoute, known: KnownModel, filling: Filling): Members {
  const { cost, long } = costsAt(known, placeOf(route, filling), filling.known);
  if (Bun.deepEquals(cost, known.cost) || model.cost !== undefined) return {};
  const isLong = model.long_context === undefined && filled.long_context !== undefined;
  return missing(route, { cost: withFees(known, cost), long_context_cost: isLong ? long?.cost : undefined });
}

/** A route without a known model of its own, and its model as it is written and as it is filled. */
interface PlainRoute {
  readonly model: Members;
  readonly filled: Members;
  readonly route: Members;
}

/** Returns where the upstream of a route calls its provider. */
function placeOf({ upstream: name }: Members, { upstreams }: Filling): UpstreamPlace {
  const upstream = typeof name === "string" && Object.hasOwn(upstreams, name) ? upstreams[name] : undefined;
  if (!isMembers(upstream)) return {};
  const { location, region, base_url: baseUrl } = upstream;
  return { location, region, baseUrl };
}

/** Whether a route of a known model names no other one. Traits belong to the name that the catalog gave. */
function isOf(route: Members, known: KnownModel): boolean {
  return route.model === undefined || route.model === upstreamModelOf(known);
}

function valuesOfPlainRoute(route: Members, known: KnownModel): Members {
  return missing(route, {
    model: upstreamModelOf(known),
    reasoning: known.reasoning,
    sampling: known.sampling,
  });
}

/** The threshold of a model whose routes alone know a long cost: the lowest of them. */
function longContextOf(model: Members, routes: readonly unknown[], { known }: Filling): Members {
  if (model.long_context !== undefined) return {};
  const thresholds = routes.flatMap((route) => {
    if (!isMembers(route) || route.long_context_cost === undefined || typeof route.known !== "string")
      return [];
    return known.find(route.known)?.long?.above_input_tokens ?? [];
  });
  return thresholds.length > 0 ? { long_context: { above_input_tokens: Math.min(...thresholds) } } : {};
}

function isReached(
  { context_window: window }: Members,
  { above_input_tokens: above }: { readonly above_input_tokens: number },
): boolean {
  return typeof window === "number" && above < window;
}

/** The members of a mapping of the file. */
type Members = Readonly<Record<string, unknown>>;

/** Returns the members that are neither written nor unknown. */
function missing(written: Members, known: Members): Members {
  return Object.fromEntries(
    Object.entries(known).filter(([key, value]) => value !== undefined && written[key] === undefined),
  );
}

/** Fills the classes that a written cost leaves out. */
function mergedCost(written: Members, key: string, cost: object | undefined): Members {
  const own = written[key];
  if (!cost || (own !== undefined && !isMembers(own))) return {};
  if (own && Object.keys(cost).every((name) => Object.hasOwn(own, name))) return {};
  return { [key]: { ...cost, ...own } };
}

/** The known output limit, within the window that the route has in the file. */
function outputWithin(route: Members, { max_output_tokens: max }: KnownModel): number | undefined {
  return max && Math.min(max, countOr(route.context_window, max) ?? max);
}

/** The limit of a route, where it is below that of its model, which is written or known. */
function lowerThan(ofModel: unknown, ofRoute: number | undefined): number | undefined {
  const own = countOr(ofModel, undefined);
  return own !== undefined && ofRoute !== undefined && ofRoute < own ? ofRoute : undefined;
}

function countOr(written: unknown, known: number | undefined): number | undefined {
  const text = typeof written === "string" && /^\d{1,15}$/.test(written) ? Number(written) : written;
  return typeof text === "number" ? text : known;
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
