import { connectDatabase } from "../../src/db/database.ts";
import { type Batch, type Sink, SinkError } from "../../src/exports/line.ts";
import { startSharedExport } from "../../src/exports/run-export.ts";
import { openExportConnection } from "../../src/ledger/exports/connection.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Receipt } from "../../src/ledger/records.ts";
import { waitAtMost } from "../../src/platform.ts";
import { drawInteger, drawOne } from "../support/seeded-random.ts";
import { connectionsTo } from "./connections.ts";
import { createDisk } from "./disk.ts";
import { ExportModel } from "./export-model.ts";
import type { Machine } from "./scheduler.ts";
import type { World } from "./world.ts";

/** How long a gateway waits for a receiver. */
const ANSWER_MS_MAX = 10_000;
/** How long a process that stops waits for its exports. */
const CLOSE_MS = 3_000;

/** One export of a world, and what its receiver has. */
interface SimulatedExport {
  readonly config: Parameters<typeof startSharedExport>[1]["config"];
  readonly pollMs: number;
  /** When an operator adds it to the configuration, on the clock that cannot be set. */
  readonly addedAtMs: number;
  readonly model: ExportModel;
}

interface RunningExport {
  close(): Promise<void>;
}

/** The exports of usage of a world. */
export class SimulatedExports {
  readonly #world: World;
  readonly #exports: readonly SimulatedExport[];

  constructor(world: World) {
    const { draw } = world.scheduler;
    this.#world = world;
    this.#exports = ["warehouse", "archive"].slice(0, drawInteger(draw, 1, 2)).map((name) => ({
      config: {
        name,
        start: "beginning",
        batchLines: drawOne(draw, [20, 100, 1_000]),
        ...(draw() < 0.3 && { batchBytes: drawInteger(draw, 2_000, 100_000) }),
      },
      // Less often than in production, so that nights pass sooner.
      pollMs: drawOne(draw, [1_000, 5_000, 5_000]),
      addedAtMs: draw() < 0.5 ? 0 : draw() * 60_000,
      model: new ExportModel(name, (claim) => world.model.report(claim)),
    }));
  }

  /** Checks that each receiver has a receipt. */
  checkReceipt(receipt: Receipt): void {
    for (const { model } of this.#exports) model.checkReceipt(receipt);
  }

  /** Checks that what each receiver has adds up to the balances. */
  async checkWallets(ledger: Ledger): Promise<void> {
    for (const walletId of this.#world.model.toppedUp.keys()) {
      const { posted } = await ledger.balances(walletId);
      for (const { model } of this.#exports)
        model.checkWallet(walletId, [posted, ...this.#beforeEnds(walletId)]);
    }
  }

  /** The balances before the ends of credits that were booked in the last minute: time alone books them, also at rest. */
  #beforeEnds(walletId: string): readonly bigint[] {
    const { watch, scheduler } = this.#world;
    const rows = watch?.client
      .query<{ balance: bigint }, [string, number]>(BEFORE_ENDS)
      .safeIntegers(true)
      .all(walletId, scheduler.wallMs() - 60_000);
    return rows?.map(({ balance }) => balance) ?? [];
  }

  /** Starts the exports of a process that has a ledger, over connections of their own. */
  async start(machine: Machine): Promise<{ close(): Promise<void> }> {
    const { config, scheduler } = this.#world;
    const database = await connectDatabase(config.database);
    const connection = openExportConnection(database, createDisk(this.#world));
    // Would else wait for the time of the machine, in which no simulated time passes.
    for (const client of connectionsTo(machine, "/tollgate.db")) client.run("PRAGMA busy_timeout = 0");
    const running: RunningExport[] = [];
    for (const each of this.#exports) {
      const start = () => {
        const { config, pollMs, model } = each;
        const sink = createSimulatedSink(this.#world, model);
        const report = (event: object) => scheduler.note(`export ${config.name}: ${JSON.stringify(event)}`);
        running.push(startSharedExport(database, { connection, config, sink, report, pollMs }));
      };
      const waitMs = each.addedAtMs - scheduler.monotonicMs;
      if (waitMs <= 0) start();
      else scheduler.after(waitMs, `export ${each.config.name} is configured`, start, machine);
    }
    return {
      async close() {
        await waitAtMost(CLOSE_MS, Promise.all(running.map((each) => each.close())));
        await connection.close();
        await database.close();
      },
    };
  }
}

const BEFORE_ENDS = `SELECT posted_after + amount AS balance FROM transfers
  WHERE wallet_id = ? AND kind = 7 AND created_at_ms > ?`;

/** The receiver's end. What it has taken stays, whatever its sender hears of it. */
function createSimulatedSink({ scheduler, luck }: World, model: ExportModel): Sink {
  const { draw } = scheduler;
  return {
    async deliver({ lines }: Batch, signal) {
      const wait = (ms: number, label: string) => untilAborted(scheduler.sleep(ms, label), signal);
      await wait(draw() * 50, "lines are sent");
      if (luck.strikes("sink_refuses")) {
        const waitMs = draw() < 0.3 ? draw() * 30_000 : 0;
        throw new SinkError("refused", { waitMs, isTooLarge: draw() < 0.3 });
      }
      if (luck.strikes("sink_takes_half")) {
        model.take(lines.slice(0, draw() * lines.length));
        throw new SinkError("the connection was reset");
      }
      model.take(lines);
      if (luck.strikes("sink_loses_answer")) throw new SinkError("the connection was reset");
      if (luck.strikes("sink_late")) {
        await wait(ANSWER_MS_MAX, "a receiver took too long");
        throw new SinkError("no answer in time");
      }
      await wait(draw() * 200, "a receiver has taken lines");
      return 0;
    },
    close() {},
  };
}

/** Rejects when a try is ended before the work is done. */
function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(new SinkError("ended"));
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", end));
}
