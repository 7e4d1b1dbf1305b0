import { Elysia } from "elysia";
import type { ConsoleParts } from "../console-parts.ts";
import { meRoutes, mySessionsRoutes } from "./me.ts";
import { signInRoutes } from "./sign-in.ts";

/** Routes of people: sign-in, their own sessions, password and e-mail. */
export function sessionRoutes(parts: ConsoleParts) {
  return new Elysia().use(signInRoutes(parts)).use(meRoutes(parts)).use(mySessionsRoutes(parts));
}
