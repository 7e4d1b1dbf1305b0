import { Elysia } from "elysia";
import type { ConsoleParts } from "../console-parts.ts";
import { meRoutes } from "./me.ts";
import { mySessionsRoutes } from "./my-sessions.ts";
import { signInRoutes } from "./sign-in.ts";

/** Routes of people: sign-in, their own sessions, password and e-mail. */
export function sessionRoutes(parts: ConsoleParts) {
  return new Elysia().use(signInRoutes(parts)).use(meRoutes(parts)).use(mySessionsRoutes(parts));
}
