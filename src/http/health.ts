import { Elysia } from "elysia";
import type { HttpParts } from "./http-parts.ts";
import { idHeaders, newRequestId } from "./identity.ts";

/**
 * `/healthz`: the process runs. `/readyz`: whether it takes requests, with the result of each check as JSON.
 * `/`: clients probe it before their first request. None of them needs a key.
 */
export function healthRoutes(parts: HttpParts) {
  const respond = (status: number, type: string, body: string) =>
    new Response(body, { status, headers: { ...idHeaders(newRequestId()), "content-type": type } });
  return new Elysia()
    .get("/", () => respond(200, "text/plain", "tollgate\n"))
    .get("/healthz", () => respond(200, "text/plain", "ok\n"))
    .get("/readyz", async () => {
      const { isReady, checks } = await parts.readiness();
      const isDraining = parts.isDraining();
      const status = isDraining ? "draining" : isReady ? "ready" : "not_ready";
      const body = `${JSON.stringify({ status, checks })}\n`;
      return respond(status === "ready" ? 200 : 503, "application/json", body);
    });
}
