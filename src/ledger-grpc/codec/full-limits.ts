import type * as Proto from "../../gen/messages.ts";
import type { FullLimits, FullLimitsQuery } from "../../ledger/records.ts";
import { decodeNumber, encodeCount, encodeText, sparse } from "./fields.ts";
import { decodeSpendLimitUsage, encodeSpendLimitUsage } from "./wallets.ts";

/** A percentage outside of its range becomes 0, which is declined. */
export function encodeFullLimitsQuery(
  walletId: string,
  { percent, after }: FullLimitsQuery,
): Proto.ListFullLimitsRequest {
  const isInRange = Number.isInteger(percent) && percent >= 0 && percent <= 100;
  return sparse<Proto.ListFullLimitsRequest>({
    walletId: encodeText(walletId),
    percent: isInRange ? percent : 0,
    after: after === undefined ? undefined : encodeCount(after),
  });
}

export function decodeFullLimitsQuery({
  percent,
  after,
}: Proto.ListFullLimitsRequest__Output): FullLimitsQuery {
  return { percent, after: after === undefined ? undefined : decodeNumber(after) };
}

export function encodeFullLimits({ limits, end, isAtEnd }: FullLimits): Proto.ListFullLimitsResponse {
  return { limits: limits.map(encodeSpendLimitUsage), end: encodeCount(end), isAtEnd };
}

export function decodeFullLimits(wire: Proto.ListFullLimitsResponse__Output): FullLimits {
  const { limits, end, isAtEnd } = wire;
  return { limits: limits.map(decodeSpendLimitUsage), end: decodeNumber(end), isAtEnd };
}
