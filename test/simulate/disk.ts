import type { OpenLogSync } from "../../src/ledger/sqlite/log-sync.ts";
import type { World } from "./world.ts";

/** A disk whose syncs take simulated time. Commits of one sync share it, as in production. */
export function createDisk(world: World): OpenLogSync {
  const { scheduler, luck } = world;
  const { draw } = scheduler;
  const syncMs = () => {
    if (luck.strikes("slow_sync")) return 100 + draw() * 1_900;
    if (luck.strikes("lost_answer")) return 3_000 + draw() * 3_000;
    return 0.1 + draw() * 4;
  };
  return (path) => {
    world.power.opened(path);
    let next: PromiseWithResolvers<void> | undefined;
    let isSyncing = false;
    let failure: Error | undefined;
    const begin = () => {
      const group = next;
      if (!group) return;
      next = undefined;
      isSyncing = true;
      const synced = world.power.syncing(path);
      scheduler.after(syncMs(), "synced", () => {
        isSyncing = false;
        if (luck.strikes("failed_sync")) failure ??= failDisk(world);
        if (failure) group.reject(failure);
        else {
          synced();
          group.resolve();
        }
        begin();
      });
    };
    return {
      sync() {
        if (failure) return Promise.reject(failure);
        next ??= Promise.withResolvers();
        const { promise } = next;
        if (!isSyncing) begin();
        return promise;
      },
      close() {},
    };
  };
}

/** A process whose sync has failed cannot settle any more: its operator restarts it. */
function failDisk(world: World): Error {
  const { scheduler } = world;
  const { current } = scheduler;
  scheduler.after(scheduler.draw() * 30_000, "an operator restarts", () => world.kill(current));
  return Object.assign(new Error("sync failed"), { code: "EIO" });
}
