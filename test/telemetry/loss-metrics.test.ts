import { expect, test } from "bun:test";
import { createMetrics } from "../../src/telemetry/metrics.ts";

test("lost log lines and spans are counters of the scrape", async () => {
  const metrics = createMetrics();
  let spans = 0;
  metrics.watchLosses(() => ({ logLines: 7, spans }));
  expect(await metrics.print()).toContain("tollgate_log_lines_dropped_total 7");
  spans = 3;
  expect(await metrics.print()).toContain("tollgate_trace_spans_dropped_total 3");
});
