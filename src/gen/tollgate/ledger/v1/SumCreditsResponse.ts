// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { CreditTotal as _tollgate_ledger_v1_CreditTotal, CreditTotal__Output as _tollgate_ledger_v1_CreditTotal__Output } from '../../../tollgate/ledger/v1/CreditTotal.ts';

export interface SumCreditsResponse {
  'totals'?: (_tollgate_ledger_v1_CreditTotal)[];
}

export interface SumCreditsResponse__Output {
  'totals': (_tollgate_ledger_v1_CreditTotal__Output)[];
}
