// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Hold as _tollgate_ledger_v1_Hold, Hold__Output as _tollgate_ledger_v1_Hold__Output } from '../../../tollgate/ledger/v1/Hold.ts';

export interface FindHoldsResponse {
  'holds'?: (_tollgate_ledger_v1_Hold)[];
}

export interface FindHoldsResponse__Output {
  'holds': (_tollgate_ledger_v1_Hold__Output)[];
}
