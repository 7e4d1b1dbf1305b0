// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Hold as _tollgate_ledger_v1_Hold, Hold__Output as _tollgate_ledger_v1_Hold__Output } from '../../../tollgate/ledger/v1/Hold.ts';
import type { Balances as _tollgate_ledger_v1_Balances, Balances__Output as _tollgate_ledger_v1_Balances__Output } from '../../../tollgate/ledger/v1/Balances.ts';

export interface SettleHoldResponse {
  'hold'?: (_tollgate_ledger_v1_Hold | null);
  'balances'?: (_tollgate_ledger_v1_Balances | null);
  'replayed'?: (boolean);
}

export interface SettleHoldResponse__Output {
  'hold': (_tollgate_ledger_v1_Hold__Output | null);
  'balances': (_tollgate_ledger_v1_Balances__Output | null);
  'replayed': (boolean);
}
