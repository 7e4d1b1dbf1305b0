import type { Path, Problems } from "./problems.ts";
import type { ModelEntry, Partly } from "./schema.ts";

type Entry = NonNullable<Partly<ModelEntry>["price"]>;
type RouteEntry = NonNullable<NonNullable<Partly<ModelEntry>["routes"]>[number]>;

const USD = 'USD per million tokens in quotes, such as "3.00", with at most 6 decimals';

/** Checks that every price is either a markup or prices, and that every route has a price or a cost. */
export function checkPrices(path: Path, model: Partly<ModelEntry>, problems: Problems): void {
  checkForm([...path, "price"], model.price, problems);
  for (const [index, route] of Object.entries(model.routes ?? {})) {
    checkForm([...path, "routes", index, "price"], route?.price, problems);
    checkCost(path, { model, index, route: route ?? {} }, problems);
  }
}

function checkForm(path: Path, entry: Entry | undefined, problems: Problems): void {
  if (!entry) return;
  const { markup, ...prices } = entry;
  if ("markup" in entry) {
    if (markup === undefined || Object.keys(prices).length === 0) return;
    problems.add([...path, "markup"], "stands beside prices", "either a markup or prices");
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
