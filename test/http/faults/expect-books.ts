import { expect } from "bun:test";
import { printUsd } from "../../../src/domain/money.ts";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import type { TestGateway } from "../../support/test-gateway.ts";
import { outcomeCode } from "./outcomes.ts";
import type { Played } from "./play-cell.ts";

const SEED = 1_000_000_000n;

/** Checks what was charged, what the receipt says of it, and that the wallet moved by exactly that. */
export async function expectBooks(gateway: TestGateway, played: Played): Promise<void> {
  const { response, payer, last, cell } = played;
  const receipt = await gateway.receiptOf(response, payer.accountId);
  const { charge } = last;
  const isRescued = last !== played.first;
  const captured = costOf(played, isRescued ? 10n : 1n);
  expect(receipt).toMatchObject({
    state: charge ? "settled" : "released",
    late: false,
    captured,
    request: { surface: cell.surface.name, model: cell.id },
    outcome: {
      outcome: outcomeCode(last),
      source: charge?.source ?? "none",
      upstream: isRescued ? cell.reserve : cell.id,
      upstreamModel: isRescued ? `${cell.id}.second` : cell.id,
    },
  });
  expect(receipt.outcome?.usage).toEqual(
    charge && { ...NO_USAGE, inputTokens: charge.input, outputTokens: charge.output },
  );
  const balances = await gateway.balances(payer.accountId);
  expect(balances).toEqual({ posted: SEED - captured, held: 0n, available: SEED - captured });
  expectCostHeaders(played, captured);
}

/** Nanos: an input token costs 1,000, an output token 2,000. */
function costOf({ last: { charge } }: Played, factor: bigint): bigint {
  return charge ? (BigInt(charge.input) * 1_000n + BigInt(charge.output) * 2_000n) * factor : 0n;
}

/** What it cost is said in headers whenever they leave after the settlement: always but for an open stream. */
function expectCostHeaders({ response, cell, last }: Played, captured: bigint): void {
  const isOpenStream = cell.mode === "stream" && last.shown !== undefined;
  const said = {
    cost: response.headers.get("x-tollgate-cost-usd"),
    balance: response.headers.get("x-tollgate-balance-usd"),
  };
  expect(said).toEqual(
    isOpenStream
      ? { cost: null, balance: null }
      : { cost: printUsd(captured), balance: printUsd(SEED - captured) },
  );
}
