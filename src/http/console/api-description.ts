import { Elysia } from "elysia";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";

export function apiDescriptionRoutes(parts: ConsoleParts) {
  return new Elysia().use(createGuard(parts));
}
