import { HealthImplementation } from "grpc-health-check";
import type { Ledger } from "../ledger.ts";
import { LEDGER_SERVICE } from "./service.ts";

/** `grpc.health.v1` of the whole server ("") and of the ledger, which are the same. */
export interface Health {
  readonly implementation: HealthImplementation;
  /** NOT_SERVING from now on. */
  drain(): void;
}

const PROBE_EVERY_MS = 2_000;
const PROBE_MAX_MS = 2_000;

/** Asks the ledger every two seconds whether its books can be read. Resolves when it is known for the first time. */
export async function watchHealth(ledger: Pick<Ledger, "ping">): Promise<Health> {
  const implementation = new HealthImplementation();
  let isServing: boolean | undefined;
  let isDraining = false;
  let timer: Timer | undefined;

  const say = (now: boolean) => {
    // Watchers are told of changes only.
    if (now === isServing) return;
    isServing = now;
    for (const service of ["", LEDGER_SERVICE]) {
      implementation.setStatus(service, now ? "SERVING" : "NOT_SERVING");
    }
  };
  const probe = async () => {
    const isUp = await canPing(ledger);
    if (isDraining) return;
    say(isUp);
    timer = setTimeout(probe, PROBE_EVERY_MS);
    timer.unref();
  };

  await probe();
  return {
    implementation,
    drain() {
      isDraining = true;
      clearTimeout(timer);
      say(false);
    },
  };
}

async function canPing(ledger: Pick<Ledger, "ping">): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), PROBE_MAX_MS);
  const answer = ledger.ping().then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
