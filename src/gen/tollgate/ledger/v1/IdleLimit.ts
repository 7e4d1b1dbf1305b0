// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Scope as _tollgate_ledger_v1_Scope, Scope__Output as _tollgate_ledger_v1_Scope__Output } from '../../../tollgate/ledger/v1/Scope.ts';
import type { Long } from '@grpc/proto-loader';

export interface IdleLimit {
  'keyId'?: (string);
  'scopes'?: (_tollgate_ledger_v1_Scope)[];
  'usedNanos'?: (number | string | Long);
}

export interface IdleLimit__Output {
  'keyId': (string);
  'scopes': (_tollgate_ledger_v1_Scope__Output)[];
  'usedNanos': (Long);
}
