import { type CallResult, call } from "../storm/call.ts";
import { planOf, type StormConditions } from "../storm/plan.ts";
import type { StormGateway } from "../storm/storm-gateway.ts";

/** Clients of the gateway, and how their requests ended so far. */
export interface SoakLoad {
  /** Keeps so many clients busy. Returns the requests per second that they got through. */
  closed(options: { readonly callers: number; readonly ms: number }): Promise<number>;
  /** Makes requests at fixed times, however long their answers take. Resolves when the last has ended. */
  open(options: { readonly perSecond: number; readonly ms: number }): Promise<void>;
  readonly tally: Readonly<Record<CallResult["ended"], number>>;
  readonly underWay: number;
  /** The first requests that ended in no way that the contract allows. */
  readonly wrong: readonly CallResult[];
}

const WRONG_KEPT = 10;

export function createSoakLoad(gateway: StormGateway, weather: StormConditions): SoakLoad {
  const tally = { finished: 0, failed: 0, left: 0, wrong: 0 };
  const wrong: CallResult[] = [];
  let number = 0;
  let underWay = 0;

  async function ask(): Promise<void> {
    number += 1;
    underWay += 1;
    const plan = planOf(weather, number);
    const seen = await call(gateway.payer(plan.key), plan);
    underWay -= 1;
    tally[seen.ended] += 1;
    if (seen.ended === "wrong" && wrong.length < WRONG_KEPT) wrong.push(seen);
  }

  return {
    async closed({ callers, ms }) {
      const endsAt = performance.now() + ms;
      const before = number;
      const work = async () => {
        while (performance.now() < endsAt) await ask();
      };
      await Promise.all(Array.from({ length: callers }, work));
      return ((number - before) / ms) * 1_000;
    },
    async open({ perSecond, ms }) {
      const asked: Promise<void>[] = [];
      await atFixedTimes({ perSecond, ms }, () => void asked.push(ask()));
      await Promise.all(asked);
    },
    tally,
    get underWay() {
      return underWay;
    },
    wrong,
  };
}

async function atFixedTimes(
  { perSecond, ms }: { readonly perSecond: number; readonly ms: number },
  act: () => void,
): Promise<void> {
  const startedAt = performance.now();
  const stepMs = 1_000 / perSecond;
  for (let done = 0; done * stepMs < ms; ) {
    const waitMs = startedAt + done * stepMs - performance.now();
    if (waitMs > 0) await Bun.sleep(waitMs);
    else {
      act();
      done += 1;
    }
  }
}
