import { type ServerUnaryCall, type ServerWritableStream, type sendUnaryData, status } from "@grpc/grpc-js";
import type { Ledger } from "../../ledger/ledger.ts";
import { LEDGER_SERVICE } from "../service.ts";

/** `grpc.health.v1` of the whole server ("") and of the ledger, which are the same. */
export interface Health {
  /** The methods of the service that `grpc-health-check` describes. */
  readonly handlers: ReturnType<typeof createHandlers>;
  /** NOT_SERVING from now on. */
  drain(): void;
}

interface Question {
  readonly service: string;
}

interface Answer {
  readonly status: "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN";
}

const SERVICES: readonly string[] = ["", LEDGER_SERVICE];
const PROBE_EVERY_MS = 2_000;
const PROBE_MAX_MS = 2_000;

/** Asks the ledger every two seconds whether its books can be read. Resolves when it is known for the first time. */
export async function watchHealth(ledger: Pick<Ledger, "ping">): Promise<Health> {
  const watchers = new Set<(answer: Answer) => void>();
  let isServing: boolean | undefined;
  let isDraining = false;
  let timer: Timer | undefined;

  const say = (now: boolean) => {
    // Watchers get changes only.
    if (now === isServing) return;
    isServing = now;
    for (const write of watchers) write(answerOf(now));
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
    handlers: createHandlers(() => answerOf(isServing === true), watchers),
    drain() {
      isDraining = true;
      clearTimeout(timer);
      say(false);
    },
  };
}

function answerOf(isServing: boolean): Answer {
  return { status: isServing ? "SERVING" : "NOT_SERVING" };
}

/** Keeps nothing of a name that a caller made up: names are not bounded, and callers have no token. */
function createHandlers(current: () => Answer, watchers: Set<(answer: Answer) => void>) {
  return {
    check({ request }: ServerUnaryCall<Question, Answer>, send: sendUnaryData<Answer>) {
      if (SERVICES.includes(request.service)) send(null, current());
      else send({ code: status.NOT_FOUND, details: "The server has no such service." });
    },
    watch(call: ServerWritableStream<Question, Answer>) {
      // The protocol wants the stream of an unknown service to stay open.
      if (!SERVICES.includes(call.request.service)) return void call.write({ status: "SERVICE_UNKNOWN" });
      const write = (answer: Answer) => void call.write(answer);
      watchers.add(write);
      call.on("cancelled", () => watchers.delete(write));
      write(current());
    },
    list(_: unknown, send: sendUnaryData<{ readonly statuses: Readonly<Record<string, Answer>> }>) {
      send(null, { statuses: Object.fromEntries(SERVICES.map((service) => [service, current()])) });
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
