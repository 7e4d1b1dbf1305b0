import { customType } from "drizzle-orm/sqlite-core";
import type { Nanos } from "../../domain/money.ts";

/**
 * Money in an integer column. Throws RangeError where the connection reads integers as numbers and
 * this one does not fit: rounding money is worse than failing.
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
