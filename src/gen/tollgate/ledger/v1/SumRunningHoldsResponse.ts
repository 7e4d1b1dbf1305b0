// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { RunningTotals as _tollgate_ledger_v1_RunningTotals, RunningTotals__Output as _tollgate_ledger_v1_RunningTotals__Output } from '../../../tollgate/ledger/v1/RunningTotals.ts';

export interface SumRunningHoldsResponse {
  'totals'?: (_tollgate_ledger_v1_RunningTotals)[];
}

export interface SumRunningHoldsResponse__Output {
  'totals': (_tollgate_ledger_v1_RunningTotals__Output)[];
}
