import { UNIT_KEYS } from "../catalog/prices.ts";
import { TOOL_NAME_PATTERN } from "../domain/tool-fees.ts";
import type { Path, Problems } from "./problems.ts";
import type { ModelEntry, Partly } from "./schema.ts";

type Entry = NonNullable<Partly<ModelEntry>["price"]>;
type RouteEntry = NonNullable<NonNullable<Partly<ModelEntry>["routes"]>[number]>;

const USD = 'USD per million tokens in quotes, such as "3.00", with at most 6 decimals';

/**
 * Checks that every price is either a markup or prices, that all of a model count tokens or one unit, and that
 * every route has a price or a cost.
 */
export function checkPrices(path: Path, model: Partly<ModelEntry>, problems: Problems): void {
  const written = listPrices(model);
  for (const { place, entry } of written) checkForm([...path, ...place], entry, problems);
  checkKinds(path, written, problems);
  for (const [index, route] of Object.entries(model.routes ?? {})) {
    checkCost(path, { model, index, route: route ?? {} }, problems);
  }
}

/** Whether a model is priced by unit, so that it needs no window and no output limit. */
export function isPricedByUnit(model: Partly<ModelEntry>, unit?: (typeof UNIT_KEYS)[number]): boolean {
  const keys = unit === undefined ? UNIT_KEYS : [unit];
  return listPrices(model).some(({ entry }) => keys.some((key) => key in entry));
}

/** A price or a cost that is written in the file. */
interface WrittenPrice {
  readonly place: Path;
  readonly entry: Entry;
}

/** Lists the prices and costs of a model and its routes. Those of a long context are always of tokens. */
function listPrices({
  price,
  cost,
  long_context: long,
  routes = [],
}: Partly<ModelEntry>): readonly WrittenPrice[] {
  const listed: readonly (readonly [place: Path, entry: Entry | undefined])[] = [
    [["price"], price],
    [["cost"], cost],
    [["long_context", "price"], long?.price],
    [["long_context", "cost"], long?.cost],
    ...Object.entries(routes).flatMap(([index, route]) => [
      [["routes", index, "price"], route?.price] as const,
      [["routes", index, "cost"], route?.cost] as const,
      [["routes", index, "long_context_price"], route?.long_context_price] as const,
      [["routes", index, "long_context_cost"], route?.long_context_cost] as const,
    ]),
  ];
  return listed.flatMap(([place, entry]) => (entry ? [{ place, entry }] : []));
}

/** Reports prices that count something else than the first one. */
function checkKinds(path: Path, written: readonly WrittenPrice[], problems: Problems): void {
  const [first] = written.flatMap(({ entry }) => kindOf(entry) ?? []);
  for (const { place, entry } of written) {
    const kind = kindOf(entry);
    if (kind === undefined || kind === first) continue;
    problems.add([...path, ...place], "counts something else than another price", `a price of ${first}`);
  }
}

/** Returns what a price counts: tokens, or the key of a unit; `undefined` for a markup and an empty entry. */
function kindOf(entry: Entry): string | undefined {
  if ("markup" in entry) return undefined;
  return UNIT_KEYS.find((key) => key in entry) ?? ("input" in entry ? "tokens" : undefined);
}

const TOOL_NAME = new RegExp(TOOL_NAME_PATTERN);
/** The most tools with a fee. A receipt lists all that ran. */
const TOOLS_MAX = 32;

function checkTools(path: Path, names: readonly string[], problems: Problems): void {
  const wrong = names.find((name) => !TOOL_NAME.test(name));
  if (wrong !== undefined)
    problems.add([...path, "tools", wrong], "is not the name of a tool", "such as web_search");
  if (names.length > TOOLS_MAX)
    problems.add([...path, "tools"], "has too many tools", `at most ${TOOLS_MAX}`);
}

function checkForm(path: Path, entry: Entry, problems: Problems): void {
  const { markup, ...prices } = entry;
  checkTools(path, Object.keys(entry.tools ?? {}), problems);
  if ("markup" in entry) {
    if (markup === undefined || Object.keys(prices).length === 0) return;
    problems.add([...path, "markup"], "stands beside prices", "either a markup or prices");
    return;
  }
  const unit = UNIT_KEYS.find((key) => key in prices);
  if (unit !== undefined) {
    if (Object.keys(prices).length > 1)
      problems.add([...path, unit], "stands beside other prices", "one unit alone");
    return;
  }
  for (const name of ["input", "output"] as const) {
    if (prices[name] === undefined) problems.add([...path, name], "is missing", USD);
  }
}

interface RoutePlace {
  readonly model: Partly<ModelEntry>;
  readonly index: string;
  readonly route: RouteEntry;
}

/** Reports a route without price and cost, and a markup without a cost, at the key that is written. */
function checkCost(path: Path, { model, index, route }: RoutePlace, problems: Problems): void {
  if ("cost" in route || "cost" in model) return;
  const price = route.price ?? model.price;
  if (!price) problems.add([...path, "price"], "is missing", "a price, or a cost");
  else if ("markup" in price) {
    const place = route.price ? [...path, "routes", index] : path;
    const expected = "a cost of the model, or of each of its routes";
    problems.add([...place, "price", "markup"], "has no cost", expected);
  }
}
