import { Elysia } from "elysia";
import type { HttpParts } from "./http-parts.ts";
import { idHeaders, newRequestId } from "./identity.ts";

/** `/healthz`: the process lives. `/readyz`: it takes requests, and has what they need. `/`: clients probe it before they begin. */
export function healthRoutes(parts: HttpParts) {
  const say = (status: number, text: string) =>
    new Response(text, { status, headers: { ...idHeaders(newRequestId()), "content-type": "text/plain" } });
  return new Elysia()
    .get("/", () => say(200, "tollgate\n"))
    .get("/healthz", () => say(200, "ok\n"))
    .get("/readyz", async () => ((await parts.isReady()) ? say(200, "ready\n") : say(503, "not ready\n")));
}
