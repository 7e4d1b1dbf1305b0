import { Elysia } from "elysia";
import { GatewayError } from "../../errors.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import {
  accountParams,
  conflictWith,
  issuedKey,
  key,
  keyChangeBody,
  keyList,
  keyPage,
  keyParams,
  newKeyBody,
  simulation,
  simulationBody,
  versionBody,
} from "./key-shapes.ts";

/** Routes of the API keys of an account. Developers change the keys that they created. */
export function keysRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get("/accounts/:account/keys", notBuilt, {
      needs: "keys.read",
      params: accountParams,
      response: keyList,
    })
    .post("/accounts/:account/keys", notBuilt, {
      needs: "keys.create",
      params: accountParams,
      body: newKeyBody,
      response: issuedKey,
    })
    .get("/accounts/:account/keys/:key", notBuilt, {
      needs: "keys.read",
      params: keyParams,
      response: keyPage,
    })
    .patch("/accounts/:account/keys/:key", notBuilt, {
      needs: "keys.write",
      params: keyParams,
      body: keyChangeBody,
      response: { 200: key, 409: conflictWith(key) },
    })
    .post("/accounts/:account/keys/:key/rotate", notBuilt, {
      needs: "keys.write",
      params: keyParams,
      body: versionBody,
      response: { 200: issuedKey, 409: conflictWith(key) },
    })
    .post("/accounts/:account/keys/:key/revoke", notBuilt, {
      needs: "keys.write",
      params: keyParams,
      response: key,
    })
    .post("/accounts/:account/keys/:key/simulate", notBuilt, {
      needs: "keys.read",
      params: keyParams,
      body: simulationBody,
      response: simulation,
    });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
