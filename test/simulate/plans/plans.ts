import { COMMAND_LINE } from "../../../src/accounts/audit-trail.ts";
import type { Plan } from "../../../src/domain/plan.ts";
import { GatewayError } from "../../../src/errors.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import type { PlanCommand } from "../../../src/plans/decide.ts";
import { startPlanPasses } from "../../../src/plans/pass.ts";
import { command, subscribe } from "../../../src/plans/plans.ts";
import { findSubscription } from "../../../src/plans/reads.ts";
import { platform } from "../../../src/platform.ts";
import type { Log } from "../../../src/telemetry/log.ts";
import { createDraw, drawInteger, drawOne, type RandomSource } from "../../support/seeded-random.ts";
import type { SimulatedGateway } from "../gateway.ts";
import type { World } from "../world.ts";
import { PlanModel } from "./model.ts";

const DAY_MS = 86_400_000;
const WORLDS = 0.3;
const ACCOUNTS = 0.7;
/** Of operators, per second. */
const CHANGES = 0.02;
/** Clocks leap by 400 days: shorter periods would be more credits than a wallet keeps apart. */
const PERIODS: readonly Plan["period"][] = ["14d", "30d", "month"];
const GRANTS = [0n, 30_000n, 400_000n, 50_000_000n];
const BUSY_S = 170;

/** Subscriptions of accounts, whose periods begin while requests run, and the operators who change them. */
export class SimulatedPlans {
  readonly model: PlanModel;
  readonly #world: World;
  readonly #draw: RandomSource;

  constructor(world: World, draw: RandomSource) {
    this.#world = world;
    this.#draw = draw;
    this.model = new PlanModel(world);
  }

  /** Subscribes accounts to plans, so that a period ends in the first busy minutes. */
  async subscribeAccounts(): Promise<void> {
    for (const accountId of new Set(this.#world.keys.map(({ walletId }) => walletId))) {
      if (this.#draw() > ACCOUNTS) continue;
      const plan = this.#drawPlan();
      const days = plan.period === "month" ? 31 : Number.parseInt(plan.period, 10);
      const agoMs = days * DAY_MS - drawInteger(this.#draw, 5, BUSY_S) * 1_000;
      const now = () => platform.now() - agoMs;
      const { id } = await this.#world.command("an operator subscribes an account", ({ database, ledger }) =>
        subscribe({ database, ledger, now }, COMMAND_LINE, { accountId, plan }),
      );
      this.model.add(id);
    }
  }

  /** Starts what a gateway does for plans, as in production. */
  start(parts: {
    readonly database: SimulatedGateway["database"];
    readonly ledger: Ledger;
    readonly log: Log;
  }) {
    return startPlanPasses({ ...parts, now: platform.now });
  }

  /** An operator may change a subscription. */
  strike(): void {
    if (this.model.ids.length === 0 || this.#draw() >= CHANGES) return;
    const id = drawOne(this.#draw, this.model.ids);
    const wanted = this.#drawCommand();
    this.model.touch(id);
    void this.#world.command("an operator changes a subscription", (gateway) => change(gateway, id, wanted));
  }

  #drawPlan(): Plan {
    return {
      ...{ id: `plan-${this.#draw()}`, name: "Plan", lateDays: 1, limits: [] },
      ...{ models: undefined, markup: undefined, price: undefined },
      period: drawOne(this.#draw, PERIODS),
      grant: drawOne(this.#draw, GRANTS),
      carryOver: drawInteger(this.#draw, 0, 2),
    };
  }

  #drawCommand(): PlanCommand {
    const kind = drawOne(this.#draw, ["pause", "resume", "resume", "change", "change", "cancel"] as const);
    if (kind === "change") return { kind, plan: this.#drawPlan() };
    return kind === "cancel" ? { kind, when: drawOne(this.#draw, ["now", "period_end"] as const) } : { kind };
  }
}

/** Draws whether a world has plans, apart from all else that its seed draws. */
export function drawPlans(world: World, seed: number): SimulatedPlans | undefined {
  const draw = createDraw("subscriptions", seed);
  return draw() < WORLDS ? new SimulatedPlans(world, draw) : undefined;
}

/** A change names the version that its author has read, so that a repetition changes nothing again. */
async function change(
  { database, ledger }: SimulatedGateway,
  subscriptionId: string,
  wanted: PlanCommand,
): Promise<void> {
  const parts = { database, ledger, now: platform.now };
  const version = (await findSubscription(database, subscriptionId))?.version;
  try {
    await command(parts, COMMAND_LINE, { subscriptionId, command: wanted, version });
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
  }
}
