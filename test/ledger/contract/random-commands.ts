import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Scope } from "../../../src/domain/scope.ts";
import type { Command } from "../../../src/ledger/core/command.ts";
import { type Ledger, LedgerError } from "../../../src/ledger/ledger.ts";
import { type Step, steps } from "../commands.ts";
import { createOracle } from "../oracle.ts";
import { NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

/** Random commands with scopes, templates and windows, compared with a model that sums up from the start. */
export function describeRandomCommands(env: LedgerEnv): void {
  let runs = 0;

  describe("random commands", () => {
    test("have the results, declines and limits of the oracle, by one process or two", async () => {
      const another = await env.openAnother();
      const property = fc.asyncProperty(steps, fc.boolean(), fc.boolean(), async (given, isWhole, areTwo) => {
        runs += 1;
        env.clock.nowMs = NOON_MS;
        const run = startRun(`${env.walletId}-run-${runs}`);
        for (const [index, part] of partsOf(given, isWhole).entries()) {
          const ledger = areTwo && index % 3 === 0 ? another : env.ledger;
          if ("passesMs" in part) env.clock.nowMs += part.passesMs;
          else await run.decide(ledger, part.commands, env.clock.nowMs);
        }
        await run.compareLimits(env.ledger, env.clock.nowMs);
      });
      await fc.assert(property, { numRuns: env.runsOf(30) });
    });
  });
}

type Part = { readonly passesMs: number } | { readonly commands: Command[] };

/** Joins the commands between two passages of time, or leaves each alone. */
function partsOf(given: readonly Step[], isWhole: boolean): readonly Part[] {
  const parts: Part[] = [];
  for (const step of given) {
    const last = parts.at(-1);
    if ("passesMs" in step) parts.push(step);
    else if (isWhole && last && "commands" in last) last.commands.push(step.command);
    else parts.push({ commands: [step.command] });
  }
  return parts;
}

/** Starts commands on one wallet, beside an oracle of this wallet. */
function startRun(walletId: string) {
  const oracle = createOracle();
  /** By the ids that the commands foretell, the receipts of charges that the ledger made. */
  const receipts = new Map<string, string>();

  const named = (command: Command): Command => {
    const { request } = command;
    const made = "holdId" in request ? receipts.get(request.holdId) : undefined;
    // Safe because only the ids are replaced.
    return { ...command, request: { ...request, walletId, ...(made && { holdId: made }) } } as Command;
  };
  const compare = (command: Command, outcome: object, nowMs: number) => {
    let decided = command;
    if (command.kind === "charge" && "result" in outcome) {
      // Safe because a charge has this result.
      const { receiptId } = outcome.result as { receiptId: string };
      receipts.set(command.request.receiptId, receiptId);
      decided = { kind: "charge", request: { ...command.request, receiptId } };
    }
    const expected: object = oracle.decide(decided, nowMs);
    expect([command.kind, outcome]).toEqual([command.kind, expected]);
  };

  return {
    /** Submits commands at once. An expiry is no command of a caller. */
    async decide(ledger: Ledger, given: readonly Command[], nowMs: number): Promise<void> {
      const commands = given.filter(({ kind }) => kind !== "expire").map(named);
      const outcomes = await Promise.all(commands.map((command) => outcomeOf(send(ledger, command))));
      for (const [index, command] of commands.entries()) compare(command, outcomes[index] ?? {}, nowMs);
    },
    async compareLimits(ledger: Ledger, nowMs: number): Promise<void> {
      for (const [keyId, scopes] of SPENDERS) {
        const limits = await ledger.spendLimits(walletId, keyId, scopes);
        expect(limits).toMatchObject(oracle.limitsOf({ keyId, scopes }, nowMs));
      }
    },
  };
}

const SPENDERS: readonly (readonly [string, readonly Scope[]])[] = [
  ["k1", []],
  [
    "k2",
    [
      { kind: "parent_key", id: "k1" },
      { kind: "project", id: "p1" },
      { kind: "end_user", id: "u1" },
      { kind: "end_user", id: "u2" },
      { kind: "tag", id: "a=1" },
    ],
  ],
];

function send(ledger: Ledger, { kind, request }: Command): Promise<unknown> {
  switch (kind) {
    case "create_wallet":
      return ledger.createWallet(request.walletId);
    case "set_wallet_state":
      return ledger.setWalletState(request);
    case "hold":
      return ledger.hold(request);
    case "extend":
      return ledger.extend(request);
    case "settle":
      return ledger.settle(request);
    case "release":
      return ledger.release(request);
    case "top_up":
      return ledger.topUp(request);
    case "charge":
      return ledger.charge(request);
    case "refund":
      return ledger.refund(request);
    case "set_spend_limit":
      return ledger.setSpendLimit(request);
    case "delete_spend_limit":
      return ledger.deleteSpendLimit(request);
    case "expire":
    case "expire_credits":
      throw new Error("an expiry is no command of a caller");
  }
}

async function outcomeOf(sent: Promise<unknown>): Promise<object> {
  try {
    return { result: (await sent) ?? {} };
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    const { code, shortfall, limit } = error;
    return { declined: code, ...(shortfall && { shortfall }), ...(limit && { limit }) };
  }
}
