import { Elysia, type Static, type TSchema, t } from "elysia";
import type { AuditActor } from "../../../accounts/audit-trail.ts";
import { type Nanos, parseUsd, printUsd } from "../../../domain/money.ts";
import { NAME_BEGIN, NOT_IN_NAMES } from "../../../domain/name-characters.ts";
import { isGenuine } from "../../../domain/signed-message.ts";
import { GatewayError } from "../../../errors.ts";
import { LedgerError } from "../../../ledger/ledger.ts";
import type { IssuedCode } from "../../../payments/redeem-codes.ts";
import { issueCodes } from "../../../payments/signed-codes.ts";
import type { PaymentCaller } from "../../../payments/signed-days.ts";
import {
  type Claimed,
  payIn,
  type SignedBy,
  type SignedTopUp,
  takeBack,
} from "../../../payments/signed-payments.ts";
import type { ConsoleParts } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { createBodyCheck, readRequestBody } from "../request-body.ts";
import { contextOf } from "../request-context.ts";
import { id, oneOf, time, usd } from "../shapes.ts";

type Parts = Pick<ConsoleParts, "database" | "identify" | "ledger" | "settings" | "throttle" | "now" | "log">;

const BODY_BOUNDS = {
  bytesMax: 16 * 1024,
  message: "The call exceeds the size limit of 16 KiB.",
};

/** The caller's own id of a payment or reversal: behind its prefixes, it fits the id of a top-up. */
const ownId = t.String({ pattern: "^[A-Za-z0-9._-]{1,80}$" });
const amount = t.String({ pattern: "^\\d{1,9}(\\.\\d{1,9})?$", description: "USD above 0" });
const reason = t.Optional(t.String({ maxLength: 200, pattern: `${NAME_BEGIN}[^${NOT_IN_NAMES}]*$` }));
const source = t.Optional(oneOf(["purchase", "promotion", "plan", "adjustment"]));
const CLOSED = { additionalProperties: false } as const;

const topUpBody = t.Object(
  {
    type: t.Literal("top_up"),
    id: ownId,
    account: id,
    amount_usd: amount,
    source,
    expires_at: t.Optional(time),
    reason,
  },
  CLOSED,
);

const reversalBody = t.Object(
  { type: t.Literal("reversal"), id: ownId, payment: ownId, amount_usd: amount, reason },
  CLOSED,
);

const signedCodesBody = t.Object(
  {
    type: t.Literal("codes"),
    id: ownId,
    amount_usd: amount,
    count: t.Optional(t.Integer({ minimum: 1, maximum: 100 })),
    note: reason,
    source,
    credit_days: t.Optional(t.Integer({ minimum: 1, maximum: 36_500 })),
    expires_at: t.Optional(time),
  },
  CLOSED,
);

const CHECKS = {
  top_up: createCheck(topUpBody),
  reversal: createCheck(reversalBody),
  codes: createCheck(signedCodesBody),
};

const signedPaymentShape = t.Object({
  id: t.String({ description: "of the top-up, or of the correction" }),
  account_id: t.String(),
  amount_usd: usd,
  left_usd: t.String({ description: "USD that may still be taken back of the payment" }),
  replayed: t.Boolean({ description: "an earlier call with the id has booked it" }),
});

const signedCallShape = t.Union([
  signedPaymentShape,
  t.Object({ id, codes: t.Array(t.Object({ id, code: t.String(), amount_usd: usd })) }),
]);

/** The calls of the operator's own provider of payments. */
export function signedCallRoutes(parts: Parts) {
  return new Elysia().use(createGuard(parts, "Wallet")).post(
    "/signed/:caller",
    async ({ request, params }) => {
      const { caller, body } = await authenticate(parts, request, params.caller);
      // Counted behind the signature: no stranger can use up the calls of a caller.
      return parts.throttle("signed", { address: undefined, trusted: caller.id }, () =>
        apply(parts, { caller, actor: actorOf(caller, request) }, body),
      );
    },
    {
      summary: "Top up a wallet, take a payment back, or create redeem codes, by a signed call",
      isPublic: true,
      parse: "none",
      response: signedCallShape,
    },
  );
}

/** Stands in for the secret of an unknown caller, which then takes as long to refuse. */
const NO_SECRET = `whsec_${"A".repeat(32)}`;

/** Reads a call and checks its signature. Rejects alike for an unknown caller and for a wrong signature. */
async function authenticate(
  { settings, throttle, now }: Parts,
  request: Request,
  callerId: string,
): Promise<{ readonly caller: PaymentCaller; readonly body: Uint8Array }> {
  return throttle("body", { address: contextOf(request).address }, async () => {
    const body = await readRequestBody(request, BODY_BOUNDS);
    const caller = settings.paymentCallers?.find((each) => each.id === callerId);
    const header = (name: string) => request.headers.get(`webhook-${name}`) ?? "";
    const message = {
      id: header("id"),
      timestamp: header("timestamp"),
      signature: header("signature"),
      body,
    };
    const isSigned = isGenuine(message, caller?.secrets ?? [NO_SECRET], now());
    if (!isSigned || !caller) throw new GatewayError("wrong_signature");
    return { caller, body };
  });
}

function actorOf({ id: callerId }: PaymentCaller, request: Request): AuditActor {
  return { kind: "payment_caller", id: callerId, name: callerId, address: contextOf(request).address };
}

/** Applies a genuine call. What is refused is logged with its caller, as no one else can have sent it. */
async function apply(parts: Parts, by: SignedBy, body: Uint8Array): Promise<typeof signedCallShape.static> {
  const { log } = parts;
  const caller = by.caller.id;
  try {
    const answer = await book(parts, by, readJson(body)).catch(throwRefusal);
    log.info({ caller, payment: answer.id }, "signed call applied");
    return answer;
  } catch (thrown) {
    const cause = thrown instanceof GatewayError ? thrown.kind : undefined;
    log.warn({ caller, cause }, "signed call refused");
    throw thrown;
  }
}

async function book(parts: Parts, by: SignedBy, call: unknown) {
  const type = typeof call === "object" && call !== null && "type" in call ? call.type : undefined;
  switch (type) {
    case "top_up":
      return printClaimed(await payIn(parts, by, readTopUp(CHECKS.top_up(call))));
    case "reversal": {
      const { id: own, payment, amount_usd, reason: why } = CHECKS.reversal(call);
      const reversal = { id: own, paymentId: payment, amount: readAmount(amount_usd), reason: why };
      return printClaimed(await takeBack(parts, by, reversal));
    }
    case "codes": {
      const { id: own, count = 1, note, credit_days: creditDays, ...more } = CHECKS.codes(call);
      const expiresAtMs = readEnd(more.expires_at);
      if (expiresAtMs !== undefined && expiresAtMs <= parts.now()) {
        throw new GatewayError("wrong_shape", { path: "expires_at" });
      }
      const credit = { amount: readAmount(more.amount_usd), source: more.source, creditDays };
      const batch = await issueCodes(parts, by, { id: own, count, note, expiresAtMs, ...credit });
      return { id: batch.id, codes: printIssued(batch.codes) };
    }
    default:
      throw new GatewayError("wrong_shape", { path: "type" });
  }
}

function readTopUp(call: typeof topUpBody.static): SignedTopUp {
  const { id: own, account, amount_usd, expires_at, reason: why } = call;
  const money = {
    amount: readAmount(amount_usd),
    source: call.source ?? "purchase",
    expiresAtMs: readEnd(expires_at),
  };
  return { id: own, accountId: account, ...money, reason: why };
}

function readEnd(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

function printClaimed({ row, left, isReplay }: Claimed): typeof signedPaymentShape.static {
  return {
    id: row.id,
    account_id: row.accountId,
    amount_usd: printUsd(row.amount),
    left_usd: printUsd(left),
    replayed: isReplay,
  };
}

function printIssued(codes: readonly IssuedCode[]) {
  return codes.map(({ id: codeId, code, amount: each }) => ({
    id: codeId,
    code,
    amount_usd: printUsd(each),
  }));
}

function readJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new GatewayError("not_json");
  }
}

function readAmount(text: string): Nanos {
  const nanos = parseUsd(text);
  if (nanos === 0n) throw new GatewayError("wrong_shape", { path: "amount_usd" });
  return nanos;
}

/** The wallet may refuse a credit that is stored: one that has ended by now, or one too many. The sweep repeats it. */
function throwRefusal(thrown: unknown): never {
  if (!(thrown instanceof LedgerError) || thrown.code !== "invalid_credit") throw thrown;
  const message =
    "The payment is stored and not credited: its end has passed, or the wallet has too many credits.";
  throw new GatewayError("conflict", { message, reason: thrown });
}

function createCheck<Schema extends TSchema>(schema: Schema): (value: unknown) => Static<Schema> {
  const check = createBodyCheck(schema);
  return (value) => {
    check(value);
    // Safe because the check throws for every value that does not fit the schema.
    return value as Static<Schema>;
  };
}
