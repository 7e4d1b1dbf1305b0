import { type Nanos, parseUsd } from "../../domain/money.ts";
import { GatewayError } from "../../errors.ts";

/** Reads the `amount_usd` of a body: USD above 0. Throws `wrong_shape`. */
export function readAmount(text: string): Nanos {
  try {
    const amount = parseUsd(text);
    if (amount > 0n) return amount;
  } catch {
    // Answered like an amount of 0.
  }
  throw new GatewayError("wrong_shape", { path: "amount_usd" });
}
