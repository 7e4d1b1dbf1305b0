import type { SocketBounds } from "../domain/socket-bounds.ts";
import type { ConfigFile } from "./schema.ts";

const TOTAL = 10_000;
const PER_ACCOUNT = 100;
const PER_KEY = 50;
/** Of the memory that all conversations may take, one account may take a quarter. */
const ACCOUNT_SHARE = 4;

/**
 * Reads the bounds of WebSockets. Their conversations take at most half of the bytes that request bodies may take, of
 * which there are `bodyBytes` by default.
 */
export function readSocketBounds(
  { http, limits, account_limits: accountLimits }: ConfigFile,
  bodyBytes: number,
): SocketBounds {
  const memoryBytes = Math.floor((limits?.body_bytes_in_flight ?? bodyBytes) / 2);
  return {
    total: http?.websockets ?? TOTAL,
    perAccount: accountLimits?.websockets ?? PER_ACCOUNT,
    perKey: limits?.websockets ?? PER_KEY,
    memoryBytes,
    accountMemoryBytes: Math.floor(memoryBytes / ACCOUNT_SHARE),
  };
}
