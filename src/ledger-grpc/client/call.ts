import type { MethodDefinition, ServiceError } from "@grpc/grpc-js";
import { LedgerError } from "../../ledger/ledger.ts";
import { readCallRefusal } from "../codec/status.ts";
import type { Connection } from "./connection.ts";
import { faultOf } from "./link.ts";
import { LedgerLinkError } from "./link-error.ts";

/** Asks the service something, which changes nothing. Rejects with LedgerError. */
export type Call = <Request, Answer>(
  method: MethodDefinition<Request, Answer>,
  request: Request,
) => Promise<Answer>;

export interface CallOptions {
  /** How long one try may take. */
  readonly maxMs: number;
  /** How long a call that lost its connection is made again. */
  readonly outageMaxMs: number;
}

const PAUSE_MS = 25;

/** Waits for a connection as mutations do, and asks again when it was lost underneath. */
export function createCall(
  connection: Pick<Connection, "whenUp">,
  { maxMs, outageMaxMs }: CallOptions,
): Call {
  const whenUp = () =>
    connection.whenUp().catch((error) => {
      throw new LedgerError("unavailable", error);
    });

  return async (method, request) => {
    const lostMaxMs = performance.now() + outageMaxMs;
    for (;;) {
      const link = await whenUp();
      try {
        return await link.call(method, request, maxMs);
      } catch (error) {
        const refusal = toLedgerError(error);
        if (!isLost(refusal) || performance.now() > lostMaxMs) throw refusal;
      }
      await Bun.sleep(PAUSE_MS);
    }
  };
}

function toLedgerError(error: unknown): LedgerError {
  // Safe because what a call rejects with is one, or has none of its fields.
  const { code, metadata } = error as Partial<ServiceError>;
  const refusal = readCallRefusal(metadata);
  // The time of a call is up at both ends at once; only a hold has a deadline of its own.
  if (refusal && refusal.refusal !== "deadline_exceeded") return refusal;
  const fault = code === undefined ? "lost" : faultOf(code);
  return new LedgerError("unavailable", new LedgerLinkError(fault, error));
}

function isLost({ cause }: LedgerError): boolean {
  return cause instanceof LedgerLinkError && cause.code === "lost";
}
