/** The members of a mapping of the file. */
export type Members = Readonly<Record<string, unknown>>;

/** Returns the members that are neither written nor unknown. */
export function missing(written: Members, known: Members): Members {
  return Object.fromEntries(
    Object.entries(known).filter(([key, value]) => value !== undefined && written[key] === undefined),
  );
}

/** Fills the classes that a written cost leaves out. */
export function mergedCost(written: Members, key: string, cost: object | undefined): Members {
  const own = written[key];
  if (!cost || (own !== undefined && !isMembers(own))) return {};
  if (own && Object.keys(cost).every((name) => Object.hasOwn(own, name))) return {};
  return { [key]: { ...cost, ...own } };
}

export function countOr(written: unknown, known: number | undefined): number | undefined {
  const text = typeof written === "string" && /^\d{1,15}$/.test(written) ? Number(written) : written;
  return typeof text === "number" ? text : known;
}

export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
