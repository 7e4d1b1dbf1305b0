// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { SpendLimit as _tollgate_ledger_v1_SpendLimit, SpendLimit__Output as _tollgate_ledger_v1_SpendLimit__Output } from '../../../tollgate/ledger/v1/SpendLimit.ts';

export interface SetSpendLimitRequest {
  'limit'?: (_tollgate_ledger_v1_SpendLimit | null);
  'fromNow'?: (boolean);
}

export interface SetSpendLimitRequest__Output {
  'limit': (_tollgate_ledger_v1_SpendLimit__Output | null);
  'fromNow': (boolean);
}
