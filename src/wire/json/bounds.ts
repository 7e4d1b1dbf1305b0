import { GatewayError } from "../../errors.ts";
import { childrenOf, type JsonObject } from "./read.ts";

/** A million small parts would keep whoever reads, fits and prints them, and with them everybody else, for seconds. */
const VALUES_MAX = 100_000;

/** How many JSON values a body that has to be translated may still have inside of its strings. */
export interface ValueBudget {
  /** Takes so many; whether there were as many left. */
  spend(values: number): boolean;
}

/** The budget of a body, its own values spent. Throws `wrong_shape` when these are over 100,000 already. */
export function createValueBudget(body: JsonObject): ValueBudget {
  let left = VALUES_MAX;
  const budget: ValueBudget = {
    spend(values) {
      left -= values;
      return left >= 0;
    },
  };
  if (!spendValues(body, budget)) throw new GatewayError("wrong_shape");
  return budget;
}

/** Looks at no more values than there may be. */
function spendValues(body: JsonObject, budget: ValueBudget): boolean {
  const waiting: object[] = [body];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    const children = childrenOf(value);
    if (!budget.spend(children.length)) return false;
    for (const child of children) if (typeof child === "object" && child !== null) waiting.push(child);
  }
  return true;
}
