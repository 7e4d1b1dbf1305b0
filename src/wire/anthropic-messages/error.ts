import type { GatewayError } from "../../errors.ts";
import { printSse } from "../sse.ts";

/** The beta by which SDKs ask for threads, whatever its date. */
const THREADS_BETA = "message-threads-";
/**
 * The code of that beta upon which SDKs send the whole conversation instead of continuing a thread.
 *
 * @see https://github.com/anthropics/anthropic-sdk-typescript `src/lib/internal/threads/ThreadState.ts`
 */
const THREAD_NOT_FOUND = "thread_not_found";

/**
 * The error body of the messages surface; SDKs read our code as `errorCode`. `betas` is the client's `anthropic-beta`
 * header: a thread that is continued is answered in the words of the beta to those who asked for it.
 */
export function printError(error: GatewayError, requestId: string, betas = ""): string {
  const [, type] = error.row.messages;
  const isLostThread = error.kind === "thread_not_stored" && betas.includes(THREADS_BETA);
  const details = { error_code: isLostThread ? THREAD_NOT_FOUND : error.row.code };
  return JSON.stringify({
    type: "error",
    error: { type, message: error.publicMessage, details },
    request_id: requestId,
  });
}

/** The same in an open stream. */
export function printErrorFrame(error: GatewayError, requestId: string): string {
  return printSse({ event: "error", data: printError(error, requestId) });
}

export function statusOf(error: GatewayError): number {
  return error.row.messages[0];
}
