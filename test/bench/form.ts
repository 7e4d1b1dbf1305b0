/** How a gateway is deployed: its database, and whether its limits are in Redis. */
export interface Form {
  readonly database: "sqlite" | "postgres";
  readonly hasRedis: boolean;
}

/** A gateway of another form, measured in the same run. */
export interface BesideForm extends Form {
  /** Such as "without Redis". */
  readonly label: string;
}

export const WITHOUT_REDIS = "without Redis";
export const ON_SQLITE = "on SQLite";

/** Options of the command line that choose a form. */
export const FORM_OPTIONS = {
  database: { type: "string", default: "sqlite" },
  redis: { type: "boolean", default: false },
} as const;

/** Parses the values of {@link FORM_OPTIONS}. Throws for an unknown database. */
export function readForm({ database, redis }: { database: string; redis: boolean }): Form {
  if (database !== "sqlite" && database !== "postgres") {
    throw new Error(`Cannot measure --database ${database}: it must be sqlite or postgres`);
  }
  return { database, hasRedis: redis };
}

/** "SQLite", "PostgreSQL", "SQLite + Redis" or "PostgreSQL + Redis". */
export function printForm({ database, hasRedis }: Form): string {
  const name = database === "sqlite" ? "SQLite" : "PostgreSQL";
  return hasRedis ? `${name} + Redis` : name;
}

/** The simpler forms to compare a form with: one difference each. */
export function formsBeside({ database, hasRedis }: Form): readonly BesideForm[] {
  return [
    ...(hasRedis ? [{ label: WITHOUT_REDIS, database, hasRedis: false }] : []),
    ...(database === "postgres" ? [{ label: ON_SQLITE, database: "sqlite", hasRedis } as const] : []),
  ];
}
