import type { RollUpState } from "../usage-records.ts";
import { readCursor } from "./coverage.ts";
import type { RunQuery } from "./query.ts";

/** Reads which hours are summed up. */
export function createRollUpsRead(run: RunQuery) {
  return async (): Promise<RollUpState> => {
    const sql = "SELECT usage_cursor.*, (SELECT count(*) FROM usage_stale) AS stale FROM usage_cursor";
    const [row] = await run({ sql, values: [] });
    const { hours } = readCursor(row);
    return {
      closedFromMs: hours.fromMs,
      closedToMs: hours.toMs,
      staleHours: Number(row?.stale ?? 0),
      isBackfilling: hours.fromMs > 0,
    };
  };
}
