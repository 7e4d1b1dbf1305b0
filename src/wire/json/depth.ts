import { childrenOf } from "./read.ts";

/** Far more than anyone's schema or input has, and far less than what overflows the stack of whoever prints it. */
const DEPTH_MAX = 500;

/** Whether a value of somebody else's JSON nests so deep that printing it could fail. Any depth may be asked about. */
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

function addChildren(container: object, to: object[]): void {
  for (const child of childrenOf(container)) if (isContainer(child)) to.push(child);
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
