import type { Contestant, Contestants } from "./contestants.ts";
import type { Plan } from "./plan.ts";
import { residentMb } from "./resident-memory.ts";

/** Resident memory in MB, of the process and all it started. */
export interface MemoryResult {
  readonly streams: number;
  readonly proxy: Memory;
  readonly gateway: Memory;
}

interface Memory {
  readonly beforeMb: number;
  readonly openMb: number;
}

const SETTLE_MS = 1500;

export async function measureStreamMemory(
  { proxy, gateway }: Contestants,
  { openStreams }: Plan,
): Promise<MemoryResult> {
  return {
    streams: openStreams,
    proxy: await measure(proxy, openStreams),
    gateway: await measure(gateway, openStreams),
  };
}

async function measure(contestant: Contestant, streams: number): Promise<Memory> {
  const beforeMb = await residentMb(contestant.pid);
  const openMb = await contestant.withOpenStreams(streams, async () => {
    await Bun.sleep(SETTLE_MS);
    return residentMb(contestant.pid);
  });
  return { beforeMb, openMb };
}
