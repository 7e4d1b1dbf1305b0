import { type ServerUnaryCall, type ServerWritableStream, type sendUnaryData, status } from "@grpc/grpc-js";
import type { Ledger } from "../../ledger/ledger.ts";
import { within } from "../../platform.ts";
import { LEDGER_SERVICE } from "../service.ts";

/**
 * `grpc.health.v1` of the server ("") and of the ledger service; both have one status.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */
export interface Health {
  /** Handlers for the service definition of `grpc-health-check`. */
  readonly handlers: ReturnType<typeof createHandlers>;
  /** Reports NOT_SERVING from now on. */
  drain(): void;
}

interface HealthRequest {
  readonly service: string;
}

interface HealthResponse {
  readonly status: "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN";
}

const SERVICES: readonly string[] = ["", LEDGER_SERVICE];
const PROBE_EVERY_MS = 2_000;
const PROBE_MAX_MS = 2_000;

/** Pings the ledger every 2 s. Resolves after the first ping. */
export async function watchHealth(ledger: Pick<Ledger, "ping">): Promise<Health> {
  const watchers = new Set<(answer: HealthResponse) => void>();
  let isServing: boolean | undefined;
  let isDraining = false;
  let timer: Timer | undefined;

  const setServing = (now: boolean) => {
    // Watchers are sent changes only.
    if (now === isServing) return;
    isServing = now;
    for (const write of watchers) write(answerOf(now));
  };
  const probe = async () => {
    const isUp = await canPing(ledger);
    if (isDraining) return;
    setServing(isUp);
    timer = setTimeout(probe, PROBE_EVERY_MS);
    timer.unref();
  };

  await probe();
  return {
    handlers: createHandlers(() => answerOf(isServing === true), watchers),
    drain() {
      isDraining = true;
      clearTimeout(timer);
      setServing(false);
    },
  };
}

function answerOf(isServing: boolean): HealthResponse {
  return { status: isServing ? "SERVING" : "NOT_SERVING" };
}

/** Stores no service name of a caller: names are unbounded, and callers need no token. */
function createHandlers(current: () => HealthResponse, watchers: Set<(answer: HealthResponse) => void>) {
  return {
    check({ request }: ServerUnaryCall<HealthRequest, HealthResponse>, send: sendUnaryData<HealthResponse>) {
      if (SERVICES.includes(request.service)) send(null, current());
      else send({ code: status.NOT_FOUND, details: "The server has no such service." });
    },
    watch(call: ServerWritableStream<HealthRequest, HealthResponse>) {
      // The health protocol keeps the stream of an unknown service open.
      if (!SERVICES.includes(call.request.service)) return void call.write({ status: "SERVICE_UNKNOWN" });
      const write = (answer: HealthResponse) => void call.write(answer);
      watchers.add(write);
      call.on("cancelled", () => watchers.delete(write));
      write(current());
    },
    list(_: unknown, send: sendUnaryData<{ readonly statuses: Readonly<Record<string, HealthResponse>> }>) {
      send(null, { statuses: Object.fromEntries(SERVICES.map((service) => [service, current()])) });
    },
  };
}

function canPing(ledger: Pick<Ledger, "ping">): Promise<boolean> {
  const answer = ledger.ping().then(
    () => true,
    () => false,
  );
  return within(PROBE_MAX_MS, answer, () => false);
}
