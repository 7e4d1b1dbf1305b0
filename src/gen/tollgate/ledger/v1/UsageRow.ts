// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { UsageGroup as _tollgate_ledger_v1_UsageGroup, UsageGroup__Output as _tollgate_ledger_v1_UsageGroup__Output } from '../../../tollgate/ledger/v1/UsageGroup.ts';
import type { TokenUsage as _tollgate_ledger_v1_TokenUsage, TokenUsage__Output as _tollgate_ledger_v1_TokenUsage__Output } from '../../../tollgate/ledger/v1/TokenUsage.ts';
import type { Long } from '@grpc/proto-loader';

export interface UsageRow {
  'group'?: (_tollgate_ledger_v1_UsageGroup)[];
  'requests'?: (number | string | Long);
  'capturedNanos'?: (number | string | Long);
  'refundedNanos'?: (number | string | Long);
  'usage'?: (_tollgate_ledger_v1_TokenUsage | null);
  'open'?: (number | string | Long);
  'settled'?: (number | string | Long);
  'released'?: (number | string | Long);
  'expired'?: (number | string | Long);
  'firstOutputCounts'?: (number | string | Long)[];
  'totalCounts'?: (number | string | Long)[];
  'upstreamCostNanos'?: (number | string | Long);
  'costedNanos'?: (number | string | Long);
  'ok'?: (number | string | Long);
  '_ok'?: "ok";
}

export interface UsageRow__Output {
  'group': (_tollgate_ledger_v1_UsageGroup__Output)[];
  'requests': (Long);
  'capturedNanos': (Long);
  'refundedNanos': (Long);
  'usage': (_tollgate_ledger_v1_TokenUsage__Output | null);
  'open': (Long);
  'settled': (Long);
  'released': (Long);
  'expired': (Long);
  'firstOutputCounts': (Long)[];
  'totalCounts': (Long)[];
  'upstreamCostNanos': (Long);
  'costedNanos': (Long);
  'ok'?: (Long);
  '_ok'?: "ok";
}
