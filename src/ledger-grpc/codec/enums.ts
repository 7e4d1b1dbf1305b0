import type { CreditSource } from "../../domain/credit.ts";
import type { CalendarPeriod } from "../../domain/period.ts";
import type { ScopeKind } from "../../domain/scope.ts";
import type { UnitName } from "../../domain/units.ts";
import type * as Proto from "../../gen/messages.ts";
import type { ChargeSource, HoldState, TransferKindName, WalletState } from "../../ledger/records.ts";
import type { UsageDimension, UsageReport } from "../../ledger/usage-records.ts";
import { type FieldFault, InvalidField } from "./fields.ts";

/** Translates between a string union of the ledger and an enum of the proto. */
export interface EnumCodec<Ours extends string, Wire extends string> {
  /** A word outside the union becomes a number outside the enum, which the server rejects. */
  encode(value: Ours): Wire;
  /** Throws {@link InvalidField} when the value is unspecified or unknown to this version. */
  decode(wire: string | number, field: string, fault?: FieldFault): Ours;
  /** Returns `undefined` when unspecified. Throws {@link InvalidField} when unknown to this version. */
  decodeOptional(wire: string | number, field: string, fault?: FieldFault): Ours | undefined;
  /** Returns `undefined` when unspecified or unknown to this version. */
  find(wire: string | number): Ours | undefined;
}

export const holdStates = codecOf<HoldState, Extract<Proto.HoldState, string>>("HOLD_STATE_UNSPECIFIED", {
  held: "HOLD_STATE_HELD",
  settled: "HOLD_STATE_SETTLED",
  released: "HOLD_STATE_RELEASED",
  expired: "HOLD_STATE_EXPIRED",
});

export const walletStates = codecOf<WalletState, Extract<Proto.WalletState, string>>(
  "WALLET_STATE_UNSPECIFIED",
  { active: "WALLET_STATE_ACTIVE", frozen: "WALLET_STATE_FROZEN" },
);

export const chargeSources = codecOf<ChargeSource, Extract<Proto.ChargeSource, string>>(
  "CHARGE_SOURCE_UNSPECIFIED",
  {
    reported: "CHARGE_SOURCE_REPORTED",
    estimated: "CHARGE_SOURCE_ESTIMATED",
    expired: "CHARGE_SOURCE_EXPIRED",
    none: "CHARGE_SOURCE_NONE",
  },
);

export const unitNames = codecOf<UnitName, Extract<Proto.UnitName, string>>("UNIT_NAME_UNSPECIFIED", {
  search: "UNIT_NAME_SEARCH",
  image: "UNIT_NAME_IMAGE",
  character: "UNIT_NAME_CHARACTER",
  second: "UNIT_NAME_SECOND",
});

export const scopeKinds = codecOf<ScopeKind, Extract<Proto.ScopeKind, string>>("SCOPE_KIND_UNSPECIFIED", {
  key: "SCOPE_KIND_KEY",
  parent_key: "SCOPE_KIND_PARENT_KEY",
  project: "SCOPE_KIND_PROJECT",
  member: "SCOPE_KIND_MEMBER",
  end_user: "SCOPE_KIND_END_USER",
  tag: "SCOPE_KIND_TAG",
  run: "SCOPE_KIND_RUN",
});

/** `window` stands for every window; its length is a field of its own. */
export const limitPeriods = codecOf<CalendarPeriod | "window", Extract<Proto.SpendLimitPeriod, string>>(
  "SPEND_LIMIT_PERIOD_UNSPECIFIED",
  {
    total: "SPEND_LIMIT_PERIOD_TOTAL",
    day: "SPEND_LIMIT_PERIOD_DAY",
    week: "SPEND_LIMIT_PERIOD_WEEK",
    month: "SPEND_LIMIT_PERIOD_MONTH",
    window: "SPEND_LIMIT_PERIOD_WINDOW",
  },
);

export const transferKinds = codecOf<TransferKindName, Extract<Proto.TransferKind, string>>(
  "TRANSFER_KIND_UNSPECIFIED",
  {
    top_up: "TRANSFER_KIND_TOP_UP",
    settlement: "TRANSFER_KIND_SETTLEMENT",
    expiry_capture: "TRANSFER_KIND_EXPIRY_CAPTURE",
    late_settlement: "TRANSFER_KIND_LATE_SETTLEMENT",
    refund: "TRANSFER_KIND_REFUND",
    charge: "TRANSFER_KIND_CHARGE",
    correction: "TRANSFER_KIND_CORRECTION",
    credit_expiry: "TRANSFER_KIND_CREDIT_EXPIRY",
  },
);

export const creditSources = codecOf<CreditSource, Extract<Proto.CreditSource, string>>(
  "CREDIT_SOURCE_UNSPECIFIED",
  {
    promotion: "CREDIT_SOURCE_PROMOTION",
    plan: "CREDIT_SOURCE_PLAN",
    refund: "CREDIT_SOURCE_REFUND",
    adjustment: "CREDIT_SOURCE_ADJUSTMENT",
    purchase: "CREDIT_SOURCE_PURCHASE",
  },
);

export const usageDimensions = codecOf<UsageDimension, Extract<Proto.UsageDimension, string>>(
  "USAGE_DIMENSION_UNSPECIFIED",
  {
    hour: "USAGE_DIMENSION_HOUR",
    day: "USAGE_DIMENSION_DAY",
    key: "USAGE_DIMENSION_KEY",
    surface: "USAGE_DIMENSION_SURFACE",
    model: "USAGE_DIMENSION_MODEL",
    upstream: "USAGE_DIMENSION_UPSTREAM",
    outcome: "USAGE_DIMENSION_OUTCOME",
    source: "USAGE_DIMENSION_SOURCE",
    wallet: "USAGE_DIMENSION_WALLET",
    project: "USAGE_DIMENSION_PROJECT",
    member: "USAGE_DIMENSION_MEMBER",
    end_user: "USAGE_DIMENSION_END_USER",
    tag: "USAGE_DIMENSION_TAG",
    run: "USAGE_DIMENSION_RUN",
    parent_key: "USAGE_DIMENSION_PARENT_KEY",
  },
);

export const usageResolutions = codecOf<UsageReport["resolution"], Extract<Proto.UsageResolution, string>>(
  "USAGE_RESOLUTION_UNSPECIFIED",
  { hour: "USAGE_RESOLUTION_HOUR", day: "USAGE_RESOLUTION_DAY" },
);

/** A number that no enum of the proto has. */
const UNKNOWN = -1;

function codecOf<Ours extends string, Wire extends string>(
  unspecified: Wire,
  words: Readonly<Record<Ours, Wire>>,
): EnumCodec<Ours, Wire> {
  // Safe because the keys of words are the words.
  const pairs = Object.entries(words) as [Ours, Wire][];
  const wires = new Map<Ours, Wire>(pairs);
  const ours = new Map<string | number, Ours>(pairs.map(([word, wire]) => [wire, word]));
  const decodeOptional = (wire: string | number, field: string, fault: FieldFault = "invalid_request") => {
    const value = ours.get(wire);
    if (value === undefined && wire !== unspecified) throw new InvalidField(field, fault);
    return value;
  };
  return {
    // Safe because the serializer takes numbers for enums too.
    encode: (value) => wires.get(value) ?? (UNKNOWN as unknown as Wire),
    decodeOptional,
    find: (wire) => ours.get(wire),
    decode(wire, field, fault = "invalid_request") {
      const value = decodeOptional(wire, field, fault);
      if (value === undefined) throw new InvalidField(field, fault);
      return value;
    },
  };
}
