import { Elysia } from "elysia";
import type { ConsoleParts } from "./console-parts.ts";
import { operatorAccountsRoutes } from "./operator-accounts.ts";
import { operatorAuditRoutes } from "./operator-audit.ts";
import { operatorHealthRoutes } from "./operator-health.ts";
import { operatorMoneyRoutes } from "./operator-money.ts";
import { operatorPeopleRoutes } from "./operator-people.ts";

/** What platform operators see and do. */
export function operatorRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(operatorAccountsRoutes(parts))
    .use(operatorMoneyRoutes(parts))
    .use(operatorPeopleRoutes(parts))
    .use(operatorHealthRoutes(parts))
    .use(operatorAuditRoutes(parts));
}
