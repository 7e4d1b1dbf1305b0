import { type AnyElysia, Elysia } from "elysia";
import { GatewayError, toGatewayError } from "../../errors.ts";
import { LedgerError } from "../../ledger/ledger.ts";
import { WIRES } from "../../wire/registry.ts";
import { errorResponse, logInternalError } from "../errors.ts";
import { attributionRoutes } from "./accounts/attribution.ts";
import { billingRoutes } from "./accounts/billing.ts";
import { accountsRoutes } from "./accounts/routes.ts";
import { apiDescriptionRoutes } from "./api-description.ts";
import { auditTrailRoutes } from "./audit-trail.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { fromLedgerError } from "./errors.ts";
import { findRoutes } from "./find.ts";
import { keysRoutes } from "./keys/routes.ts";
import { managementKeysRoutes } from "./management-keys.ts";
import { memberLimitsRoutes } from "./member-limits.ts";
import { modelsRoutes } from "./models.ts";
import { noticesRoutes } from "./notices/routes.ts";
import { operatorAccountsRoutes, operatorMoneyRoutes } from "./operator/accounts.ts";
import { operatorAuditRoutes } from "./operator/audit.ts";
import { operatorFiguresRoutes } from "./operator/figures.ts";
import { operatorHealthRoutes } from "./operator/health.ts";
import { operatorPeopleRoutes } from "./operator/people.ts";
import { operatorSetupRoutes } from "./operator/setup.ts";
import { paymentsRoutes } from "./payments/routes.ts";
import { playgroundRoutes } from "./playground/routes.ts";
import { projectUsageRoutes } from "./project-usage.ts";
import { projectsRoutes } from "./projects.ts";
import { recordingsRoutes } from "./recordings/routes.ts";
import { printPath, replaceChecks } from "./request-body.ts";
import { contextOf } from "./request-context.ts";
import { refusalsRoutes } from "./requests/refusals.ts";
import { requestsRoutes } from "./requests/routes.ts";
import { meRoutes, mySessionsRoutes } from "./session/me.ts";
import { passkeysRoutes } from "./session/passkeys.ts";
import { providersRoutes } from "./session/providers.ts";
import { secondFactorRoutes } from "./session/second-factor.ts";
import { signInRoutes } from "./session/sign-in.ts";
import { signInWaysRoutes } from "./session/sign-in-ways.ts";
import { sharedLinksRoutes } from "./shared-links.ts";
import { subscriptionCommandsRoutes, subscriptionsRoutes } from "./subscriptions/routes.ts";
import { teamRoutes } from "./team.ts";
import { usageRoutes } from "./usage/routes.ts";
import { walletRoutes } from "./wallet/routes.ts";

/** Assembles the API of the console. Its type is that of the browser's client. */
export function createConsoleApi(parts: ConsoleParts) {
  const assembled: { app?: AnyElysia } = {};
  const findApp = () => assembled.app ?? new Elysia();
  const app = new Elysia({ prefix: "/console/api", strictPath: true, normalize: false })
    .onError(({ request, code, error }) => {
      const failure = readFailure(code, error);
      const { requestId } = contextOf(request);
      logInternalError(parts.log, requestId, failure);
      return errorResponse(failure, WIRES.chat, { requestId, headers: extraHeaders(failure) });
    })
    .use(accountsRoutes(parts))
    .use(attributionRoutes(parts))
    .use(billingRoutes(parts))
    .use(apiDescriptionRoutes(parts, findApp))
    .use(auditTrailRoutes(parts))
    .use(findRoutes(parts))
    .use(keysRoutes(parts))
    .use(managementKeysRoutes(parts))
    .use(memberLimitsRoutes(parts))
    .use(modelsRoutes(parts))
    .use(noticesRoutes(parts))
    .use(operatorRoutes(parts))
    .use(paymentsRoutes(parts))
    .use(playgroundRoutes(parts))
    .use(projectsRoutes(parts))
    .use(projectUsageRoutes(parts))
    .use(recordingsRoutes(parts))
    .use(refusalsRoutes(parts))
    .use(requestsRoutes(parts))
    .use(sessionRoutes(parts))
    .use(sharedLinksRoutes(parts))
    .use(subscriptionsRoutes(parts))
    .use(teamRoutes(parts))
    .use(usageRoutes(parts))
    .use(walletRoutes(parts));
  replaceChecks(app);
  assembled.app = app;
  return app;
}

/** The routes of the console's API, for its client. */
export type ConsoleApi = ReturnType<typeof createConsoleApi>;

/** Marks a refusal after which the web app asks for a proof, or for a code beside the password, and repeats the request. */
function extraHeaders({ kind }: GatewayError): Record<string, string> {
  if (kind === "code_needed") return { "x-tollgate-confirm": "code" };
  return kind === "not_confirmed" ? { "x-tollgate-confirm": "password" } : {};
}

/** Our own errors come first: Elysia takes the `code` of any thrown error for its own. */
function readFailure(code: unknown, error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof LedgerError) return fromLedgerError(error);
  if (code === "NOT_FOUND") return new GatewayError("unknown_route");
  if (code === "PARSE") return new GatewayError("not_json");
  if (code === "VALIDATION") return new GatewayError("wrong_shape", readPath(error));
  return toGatewayError(error);
}

/** Queries and parameters of a path are short, so that the library may check them. */
function readPath(error: unknown): { path?: string } {
  if (typeof error !== "object" || error === null || !("all" in error)) return {};
  const [first] = error.all as readonly { readonly path?: string }[];
  const path = printPath(first?.path);
  return path === undefined ? {} : { path };
}

/** What platform operators see and do. */
function operatorRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(operatorAccountsRoutes(parts))
    .use(operatorMoneyRoutes(parts))
    .use(operatorFiguresRoutes(parts))
    .use(operatorPeopleRoutes(parts))
    .use(operatorSetupRoutes(parts))
    .use(subscriptionCommandsRoutes(parts))
    .use(operatorHealthRoutes(parts))
    .use(operatorAuditRoutes(parts));
}

/** Routes of people: sign-in, their own sessions, password and e-mail. */
function sessionRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(signInRoutes(parts))
    .use(providersRoutes(parts))
    .use(passkeysRoutes(parts))
    .use(meRoutes(parts))
    .use(mySessionsRoutes(parts))
    .use(secondFactorRoutes(parts))
    .use(signInWaysRoutes(parts));
}
