import { Elysia } from "elysia";
import { GatewayError } from "../errors.ts";
import { printReceipt } from "../ledger/print-receipt.ts";
import { answerCaller } from "./answer-caller.ts";
import type { HttpParts } from "./http-parts.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** `GET /v1/receipts/{request_id}`: the receipt of a request, for every key of the account that paid. */
export function receiptRoute(parts: HttpParts) {
  return new Elysia().get("/v1/receipts/:id", ({ request, params }) =>
    answerCaller(request, parts, async ({ key }, { ledger }) => {
      const receipt = UUID.test(params.id) ? await ledger.receipt(key.accountId, params.id) : undefined;
      if (!receipt) throw new GatewayError("unknown_receipt");
      return printReceipt(receipt);
    }),
  );
}
