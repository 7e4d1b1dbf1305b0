// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Balances as _tollgate_ledger_v1_Balances, Balances__Output as _tollgate_ledger_v1_Balances__Output } from '../../../tollgate/ledger/v1/Balances.ts';

export interface CreateTopUpResponse {
  'balances'?: (_tollgate_ledger_v1_Balances | null);
  'replayed'?: (boolean);
}

export interface CreateTopUpResponse__Output {
  'balances': (_tollgate_ledger_v1_Balances__Output | null);
  'replayed': (boolean);
}
