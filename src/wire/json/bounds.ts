import { GatewayError } from "../../errors.ts";
import type { JsonObject } from "./read.ts";
import { skipString } from "./scan.ts";

/** Deeper than any real schema or tool input, and far from overflowing the stack of JSON.stringify. */
const DEPTH_MAX = 500;
/** A million small values would block the event loop for seconds while they are read and printed. */
const VALUES_MAX = 100_000;

/** Returns whether a value nests deeper than 500 levels. Takes any depth without recursion. */
export function isTooDeep(value: unknown): boolean {
  let level = isContainer(value) ? [value] : [];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === DEPTH_MAX) return true;
    const next: object[] = [];
    for (const container of level) addChildren(container, next);
    level = next;
  }
  return false;
}

/** Returns whether a text nests deeper than `depthMax`, before it is parsed. The text may be no JSON. */
export function isTextTooDeep(text: string, depthMax: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = skipString(text, at) - 1;
    else if (character === "[" || character === "{") depth += 1;
    else if (character === "]" || character === "}") depth -= 1;
    if (depth > depthMax) return true;
  }
  return false;
}

function addChildren(container: object, to: object[]): void {
  for (const child of childrenOf(container)) if (isContainer(child)) to.push(child);
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** The number of JSON values that a body to be translated may still contain inside its strings. */
export interface ValueBudget {
  /** Subtracts `values`. Returns whether the budget had that many left. */
  spend(values: number): boolean;
}

/** Creates a budget of 100,000 values, less those of the body. Throws `wrong_shape` for a larger body. */
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

/** Subtracts the values of a body from the budget. Returns false at the first value above the budget. */
function spendValues(body: JsonObject, budget: ValueBudget): boolean {
  const waiting: object[] = [body];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    const children = childrenOf(value);
    if (!budget.spend(children.length)) return false;
    for (const child of children) if (typeof child === "object" && child !== null) waiting.push(child);
  }
  return true;
}

/**
 * Returns the elements of an array or the values of an object. Object.values() on a long array takes a
 * thousand times as long as returning the array.
 */
export function childrenOf(container: object): readonly unknown[] {
  return Array.isArray(container) ? container : Object.values(container);
}
