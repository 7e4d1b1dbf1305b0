import { counter, type Family } from "./series.ts";

/** What the telemetry of this process has lost since its start. */
export interface Losses {
  readonly logLines: number;
  readonly spans: number;
}

/** Returns one counter for each kind of loss. */
export function lossFamilies({ logLines, spans }: Losses): readonly Family[] {
  return [
    counter(
      "tollgate_log_lines_dropped_total",
      "Log lines that were dropped because stdout was not read.",
      () => [[{}, logLines]],
    ),
    counter(
      "tollgate_trace_spans_dropped_total",
      "Spans that were not exported: the queue was full, or the receiver failed.",
      () => [[{}, spans]],
    ),
  ];
}
