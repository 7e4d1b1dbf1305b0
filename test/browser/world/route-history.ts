import { connectDatabase } from "../../../src/db/database.ts";
import { DAY_MS, HOUR_MS } from "../../../src/domain/id-time.ts";
import { RouteHours } from "../../../src/usage/route-hours.ts";
import { createCapturedLog } from "../../support/captured-log.ts";
import { createDraw, drawInteger } from "../../support/seeded-random.ts";
import { HISTORY_MODELS } from "./history.ts";

/** Writes what gateways have counted at routes in the last day: a working day with a bad hour of each route. */
export async function writeRouteHistory(path: string): Promise<void> {
  const database = await connectDatabase({ dialect: "sqlite", path });
  const endMs = Date.now();
  let nowMs = endMs - DAY_MS + HOUR_MS;
  const counts = new RouteHours({ database, now: () => nowMs, log: createCapturedLog(), flushMs: DAY_MS });
  const draw = createDraw("routes", "world");
  for (let hour = 0; hour < 24; hour += 1, nowMs += HOUR_MS) {
    for (const [place, { id: model, upstream, weight }] of HISTORY_MODELS.entries()) {
      const busy = hour > 6 && hour < 20 ? 3 * weight : 1;
      for (let each = 0; each < busy * 3; each += 1) {
        const isBad = hour === 9 + place ? each % 3 === 0 : each % 97 === 96;
        const outcome = isBad ? "upstream_unavailable" : "ok";
        const firstOutputMs = drawInteger(draw, 250 + 120 * place, 700 + 400 * place);
        counts.ended({ model, upstream, upstreamModel: model }, { outcome, firstOutputMs });
        counts.ended(
          { model, upstream: "", upstreamModel: "" },
          { outcome, firstOutputMs: firstOutputMs + 4 },
        );
      }
    }
    await counts.flush();
  }
  await counts.close();
  await database.close();
}
