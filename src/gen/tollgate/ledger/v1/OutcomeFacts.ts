// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { ChargeSource as _tollgate_ledger_v1_ChargeSource, ChargeSource__Output as _tollgate_ledger_v1_ChargeSource__Output } from '../../../tollgate/ledger/v1/ChargeSource.ts';
import type { Price as _tollgate_ledger_v1_Price, Price__Output as _tollgate_ledger_v1_Price__Output } from '../../../tollgate/ledger/v1/Price.ts';
import type { TokenUsage as _tollgate_ledger_v1_TokenUsage, TokenUsage__Output as _tollgate_ledger_v1_TokenUsage__Output } from '../../../tollgate/ledger/v1/TokenUsage.ts';
import type { Attempt as _tollgate_ledger_v1_Attempt, Attempt__Output as _tollgate_ledger_v1_Attempt__Output } from '../../../tollgate/ledger/v1/Attempt.ts';
import type { PricedItem as _tollgate_ledger_v1_PricedItem, PricedItem__Output as _tollgate_ledger_v1_PricedItem__Output } from '../../../tollgate/ledger/v1/PricedItem.ts';
import type { Long } from '@grpc/proto-loader';

export interface OutcomeFacts {
  'outcome'?: (string);
  'source'?: (_tollgate_ledger_v1_ChargeSource);
  'upstream'?: (string);
  'upstreamModel'?: (string);
  'price'?: (_tollgate_ledger_v1_Price | null);
  'usage'?: (_tollgate_ledger_v1_TokenUsage | null);
  'firstOutputMs'?: (number | string | Long);
  'totalMs'?: (number | string | Long);
  'attempts'?: (_tollgate_ledger_v1_Attempt)[];
  'upstreamCostNanos'?: (number | string | Long);
  'tier'?: (string);
  'items'?: (_tollgate_ledger_v1_PricedItem)[];
  '_outcome'?: "outcome";
  '_upstream'?: "upstream";
  '_upstreamModel'?: "upstreamModel";
  '_firstOutputMs'?: "firstOutputMs";
  '_totalMs'?: "totalMs";
  '_upstreamCostNanos'?: "upstreamCostNanos";
  '_tier'?: "tier";
}

export interface OutcomeFacts__Output {
  'outcome'?: (string);
  'source': (_tollgate_ledger_v1_ChargeSource__Output);
  'upstream'?: (string);
  'upstreamModel'?: (string);
  'price': (_tollgate_ledger_v1_Price__Output | null);
  'usage': (_tollgate_ledger_v1_TokenUsage__Output | null);
  'firstOutputMs'?: (Long);
  'totalMs'?: (Long);
  'attempts': (_tollgate_ledger_v1_Attempt__Output)[];
  'upstreamCostNanos'?: (Long);
  'tier'?: (string);
  'items': (_tollgate_ledger_v1_PricedItem__Output)[];
  '_outcome'?: "outcome";
  '_upstream'?: "upstream";
  '_upstreamModel'?: "upstreamModel";
  '_firstOutputMs'?: "firstOutputMs";
  '_totalMs'?: "totalMs";
  '_upstreamCostNanos'?: "upstreamCostNanos";
  '_tier'?: "tier";
}
