import { type Ledger, LedgerError } from "../../src/ledger/ledger.ts";
import type { World } from "./world.ts";

/**
 * A network between a gateway and its ledger. A call takes time; its way there or its answer may be lost, which the
 * gateway sees as `unavailable` after a while, and a command may arrive twice.
 */
export function createLink(world: World, ledger: Ledger): Ledger {
  const carry = async <Result>(name: string, id: string, call: () => Promise<Result>): Promise<Result> => {
    const { scheduler, luck } = world;
    const { draw } = scheduler;
    await scheduler.sleep(draw() * 5, `a link carries ${name}`);
    const loss = luck.oneOf(["link_loses_call", "link_loses_answer"]);
    if (loss && name === "extend") world.model.mayExpire.add(id);
    if (loss === "link_loses_answer") void call().catch(() => undefined);
    if (loss) {
      await scheduler.sleep(draw() * 6_000, `a link is silent about ${name}`);
      throw new LedgerError("unavailable");
    }
    if (luck.strikes("link_doubles")) void call().catch(() => undefined);
    const result = await call();
    await scheduler.sleep(draw() * 5, `a link answers ${name}`);
    return result;
  };
  return new Proxy(ledger, {
    get(target, name: keyof Ledger) {
      const method = target[name];
      // Safe because every method of a ledger returns a promise.
      const call = method as (...args: readonly unknown[]) => Promise<unknown>;
      return (...args: [{ readonly holdId?: string }]) =>
        carry(name, args[0]?.holdId ?? "", () => call.apply(target, args));
    },
  });
}
