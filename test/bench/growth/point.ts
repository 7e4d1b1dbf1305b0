import type { Contestants } from "../contestants.ts";
import { measureThroughput, type Rate, type Ratios } from "../gateway/throughput.ts";
import { CONNECTIONS, GROWTH_WARM_UP_MS, type GrowthDurations } from "./plan.ts";

/** One step of a growing quantity: medians of proxy and gateway. */
export interface GrowthPoint extends Ratios {
  /** Such as "1K" or "10 KB". */
  readonly step: string;
  readonly proxy: Rate;
  readonly gateway: Rate;
  /** More columns of the table, by their headings. */
  readonly details: Readonly<Record<string, string>>;
}

/** Warms the gateway up once, before the first point. */
export async function warmUp({ gateway }: Contestants): Promise<void> {
  await gateway.closedLoop({ kind: "whole", connections: CONNECTIONS, ms: GROWTH_WARM_UP_MS });
}

interface PointOptions {
  readonly step: string;
  readonly connections: number;
  readonly details?: GrowthPoint["details"];
}

/** Measures whole answers. */
export async function measurePoint(
  contestants: Contestants,
  durations: GrowthDurations,
  { step, connections, details = {} }: PointOptions,
): Promise<GrowthPoint> {
  const cell = await measureThroughput(contestants, durations, { kind: "whole", connections });
  const { proxy, gateway, ratio, cpuRatio } = cell;
  return { step, proxy, gateway, ratio, cpuRatio, details };
}

const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact" });

/** "10K", "1M". */
export function printCount(count: number): string {
  return COMPACT.format(count);
}
