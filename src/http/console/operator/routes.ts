import { Elysia } from "elysia";
import type { ConsoleParts } from "../console-parts.ts";
import { operatorAccountsRoutes } from "./accounts.ts";
import { operatorAuditRoutes } from "./audit.ts";
import { operatorHealthRoutes } from "./health.ts";
import { operatorMoneyRoutes } from "./money.ts";
import { operatorPeopleRoutes } from "./people.ts";

/** What platform operators see and do. */
export function operatorRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(operatorAccountsRoutes(parts))
    .use(operatorMoneyRoutes(parts))
    .use(operatorPeopleRoutes(parts))
    .use(operatorHealthRoutes(parts))
    .use(operatorAuditRoutes(parts));
}
