import { Elysia } from "elysia";
import { within } from "../time.ts";
import type { HttpParts } from "./http-parts.ts";
import { idHeaders, newRequestId } from "./identity.ts";

/**
 * `/healthz`: the process runs. `/readyz`: it accepts requests and its dependencies answer. `/`: clients
 * probe it before their first request. None of them needs a key.
 */
export function healthRoutes(parts: HttpParts) {
  const respond = (status: number, text: string) =>
    new Response(text, { status, headers: { ...idHeaders(newRequestId()), "content-type": "text/plain" } });
  return new Elysia()
    .get("/", () => respond(200, "tollgate\n"))
    .get("/healthz", () => respond(200, "ok\n"))
    .get("/readyz", async () =>
      (await parts.isReady()) ? respond(200, "ready\n") : respond(503, "not ready\n"),
    );
}

/** How long one result is shared: requests to an open route must not load the dependencies. */
const SHARED_MS = 500;
/** A dependency that takes longer is unavailable. */
const PROBE_MS_MAX = 2_000;

/**
 * Returns a function that runs all probes and resolves with whether none failed. Shares results for 500 ms.
 */
export function createReadiness(probes: readonly (() => Promise<void>)[]): () => Promise<boolean> {
  let latest: { readonly atMs: number; readonly result: Promise<boolean> } | undefined;
  return () => {
    const nowMs = performance.now();
    if (!latest || nowMs - latest.atMs >= SHARED_MS) latest = { atMs: nowMs, result: runProbes(probes) };
    return latest.result;
  };
}

function runProbes(probes: readonly (() => Promise<void>)[]): Promise<boolean> {
  const result = Promise.all(probes.map((probe) => probe())).then(
    () => true,
    () => false,
  );
  return within(PROBE_MS_MAX, result, () => false);
}
