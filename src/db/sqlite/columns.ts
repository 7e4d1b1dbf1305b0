import { customType } from "drizzle-orm/sqlite-core";
import type { Nanos } from "../../domain/money.ts";

/**
 * Money in an integer column. Reading throws RangeError for an unsafe number, when the connection reads
 * integers as numbers: failing is better than rounding money.
 */
export const nanos = customType<{ data: Nanos; driverData: bigint | number }>({
  dataType: () => "integer",
  fromDriver(value) {
    if (typeof value === "number" && !Number.isSafeInteger(value)) {
      throw new RangeError("Cannot read an amount exactly: the statement must read integers as bigint");
    }
    return BigInt(value);
  },
});
