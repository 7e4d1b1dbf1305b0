import { COMMAND_LINE } from "../../src/accounts/audit-trail.ts";
import { startNotices } from "../../src/app/start-deliveries.ts";
import type { PostWebhook } from "../../src/delivery/webhook-worker.ts";
import { printUsd } from "../../src/domain/money.ts";
import { createRule } from "../../src/notices/rules.ts";
import { platform } from "../../src/platform.ts";
import type { CountedUpstreams } from "../../src/telemetry/upstream-metrics.ts";
import { drawInteger, drawOne } from "../support/seeded-random.ts";
import { NoticeModel } from "./notice-model.ts";
import type { World } from "./world.ts";

/** How long a gateway waits for a receiver. */
const ANSWER_MS_MAX = 10_000;
/** Mails need a person who has confirmed an address: rules of a simulation have webhooks. */
const MAILS = { enqueue: () => Promise.reject(new Error("no rule has an address")) };

type Parts = Pick<Parameters<typeof startNotices>[0], "database" | "ledger" | "log">;

/** Notice rules of accounts, what watches them, and the receivers of their webhooks. */
export class SimulatedNotices {
  readonly model: NoticeModel;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    this.model = new NoticeModel(world.scheduler, (claim) => world.model.report(claim));
  }

  /** Creates rules of each account. */
  async createRules(): Promise<void> {
    for (const accountId of new Set(this.#world.keys.map(({ walletId }) => walletId))) {
      const { draw } = this.#world.scheduler;
      const toppedUp = this.#world.model.toppedUp.get(accountId) ?? 0n;
      // Near to the balance, holds that come and go cross a threshold many times.
      for (const below of [drawInteger(draw, 10_000, 300_000), drawInteger(draw, 300_000, 20_000_000)]) {
        const balance = toppedUp - BigInt(Math.min(below, Number(toppedUp) / 2));
        await this.#createRule(accountId, "balance_below", printUsd(balance));
      }
      await this.#createRule(accountId, "key_limit", String(drawInteger(draw, 10, 100)));
    }
  }

  async #createRule(
    accountId: string,
    kind: "balance_below" | "key_limit",
    threshold: string,
  ): Promise<void> {
    const rule = await this.#world.command("an operator creates a notice rule", ({ database }) =>
      createRule({ database, now: platform.now, allowsLoopback: false }, COMMAND_LINE, accountId, {
        kind,
        threshold,
        emails: [],
        webhookUrl: `https://hooks.example.com/${kind}`,
      }),
    );
    this.model.add(rule);
  }

  /** Starts what a gateway does for notices, as in production. */
  start(parts: Parts, upstreams: Pick<CountedUpstreams, "attempts">) {
    let wake = () => {};
    const all = { ...parts, mails: MAILS, now: platform.now, wakeWebhooks: () => wake(), settings: {} };
    const started = startNotices(all, upstreams, (call) => this.#receive(call));
    wake = started.wake;
    return started;
  }

  /** The receiver's end of a call. */
  async #receive({ headers, body }: Parameters<PostWebhook>[0]): Promise<number> {
    const { scheduler, luck } = this.#world;
    const { draw } = scheduler;
    await scheduler.sleep(draw() * 50, "a webhook is sent");
    if (luck.strikes("receiver_refuses")) throw new Error("refused");
    const id = headers["tollgate-delivery"] ?? "";
    const call = this.model.receive(id, body);
    if (luck.oneOf(["receiver_never", "receiver_late"])) {
      await scheduler.sleep(ANSWER_MS_MAX, "a receiver took too long");
      throw new Error("The receiver took too long");
    }
    await scheduler.sleep(draw() * 2_000, "a receiver answers");
    if (luck.strikes("receiver_error")) return drawOne(draw, [301, 400, 429, 500, 503]);
    call.isAccepted = true;
    return drawOne(draw, [200, 202, 204]);
  }
}
