// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { IdleLimit as _tollgate_ledger_v1_IdleLimit, IdleLimit__Output as _tollgate_ledger_v1_IdleLimit__Output } from '../../../tollgate/ledger/v1/IdleLimit.ts';

export interface DeleteSpendLimitRequest {
  'walletId'?: (string);
  'limitId'?: (string);
  'ifIdle'?: (_tollgate_ledger_v1_IdleLimit | null);
}

export interface DeleteSpendLimitRequest__Output {
  'walletId': (string);
  'limitId': (string);
  'ifIdle': (_tollgate_ledger_v1_IdleLimit__Output | null);
}
