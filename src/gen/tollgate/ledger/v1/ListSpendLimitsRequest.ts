// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Scope as _tollgate_ledger_v1_Scope, Scope__Output as _tollgate_ledger_v1_Scope__Output } from '../../../tollgate/ledger/v1/Scope.ts';

export interface ListSpendLimitsRequest {
  'walletId'?: (string);
  'keyId'?: (string);
  'scopes'?: (_tollgate_ledger_v1_Scope)[];
  'omitsRuns'?: (boolean);
}

export interface ListSpendLimitsRequest__Output {
  'walletId': (string);
  'keyId': (string);
  'scopes': (_tollgate_ledger_v1_Scope__Output)[];
  'omitsRuns': (boolean);
}
