import { type Nanos, printUsd } from "../../src/domain/money.ts";
import type { Contestants } from "./contestants.ts";
import { COST, TOP_UP } from "./gateway.ts";

/** Whether the gateway was paid for what it answered, no more and no less. */
export interface MoneyResult {
  readonly requests: number;
  readonly chargedUsd: string;
  readonly expectedUsd: string;
  readonly heldUsd: string;
  readonly auditIsClean: boolean;
  readonly isRight: boolean;
}

/** Stops the gateway and reads its wallet. */
export async function checkMoney({ gateway, gatewayProcess }: Contestants): Promise<MoneyResult> {
  await gatewayProcess.stop();
  const { posted, held } = await gatewayProcess.wallet();
  const auditIsClean = await gatewayProcess.isAuditClean();
  const expected: Nanos = BigInt(gateway.answers) * COST;
  return {
    requests: gateway.answers,
    chargedUsd: printUsd(TOP_UP - posted),
    expectedUsd: printUsd(expected),
    heldUsd: printUsd(held),
    auditIsClean,
    isRight: TOP_UP - posted === expected && held === 0n && auditIsClean,
  };
}
