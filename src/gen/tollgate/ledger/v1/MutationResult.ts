// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Status as _google_rpc_Status, Status__Output as _google_rpc_Status__Output } from '../../../google/rpc/Status.ts';
import type { Balances as _tollgate_ledger_v1_Balances, Balances__Output as _tollgate_ledger_v1_Balances__Output } from '../../../tollgate/ledger/v1/Balances.ts';
import type { HoldState as _tollgate_ledger_v1_HoldState, HoldState__Output as _tollgate_ledger_v1_HoldState__Output } from '../../../tollgate/ledger/v1/HoldState.ts';
import type { Long } from '@grpc/proto-loader';

export interface MutationResult {
  'status'?: (_google_rpc_Status | null);
  'balances'?: (_tollgate_ledger_v1_Balances | null);
  'replayed'?: (boolean);
  'grantedNanos'?: (number | string | Long);
  'capturedNanos'?: (number | string | Long);
  'holdState'?: (_tollgate_ledger_v1_HoldState);
  'receiptId'?: (string);
}

export interface MutationResult__Output {
  'status': (_google_rpc_Status__Output | null);
  'balances': (_tollgate_ledger_v1_Balances__Output | null);
  'replayed': (boolean);
  'grantedNanos': (Long);
  'capturedNanos': (Long);
  'holdState': (_tollgate_ledger_v1_HoldState__Output);
  'receiptId': (string);
}
