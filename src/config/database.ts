import { resolve } from "node:path";
import type { DatabaseLocation } from "../db/location.ts";
import type { Environment } from "./placeholders.ts";
import type { Problems } from "./problems.ts";

const DEFAULT_URL = "sqlite:./data/tollgate.db";
const EXPECTED = "sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME";

/** Reads `DATABASE_URL`; a relative path starts from `folder`. */
export function readDatabase(environment: Environment, folder: string, problems: Problems): DatabaseLocation {
  const url = environment.DATABASE_URL || DEFAULT_URL;
  if (isPostgresUrl(url)) return { dialect: "postgres", url };
  const path = /^sqlite:(?!\/\/[^/])(.*)$/s.exec(url)?.[1] ?? "";
  if (path === "" || path === ":memory:" || path.includes("\0")) {
    problems.add(["DATABASE_URL"], "names no database that can be used", EXPECTED);
  }
  return { dialect: "sqlite", path: resolve(folder, path) };
}

function isPostgresUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || !/^postgres(ql)?:$/.test(url.protocol)) return false;
  // A socket's folder may stand in for the host.
  return url.hostname !== "" || url.searchParams.has("host");
}
