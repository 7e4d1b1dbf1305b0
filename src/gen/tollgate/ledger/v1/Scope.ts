// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { ScopeKind as _tollgate_ledger_v1_ScopeKind, ScopeKind__Output as _tollgate_ledger_v1_ScopeKind__Output } from '../../../tollgate/ledger/v1/ScopeKind.ts';

export interface Scope {
  'kind'?: (_tollgate_ledger_v1_ScopeKind);
  'id'?: (string);
}

export interface Scope__Output {
  'kind': (_tollgate_ledger_v1_ScopeKind__Output);
  'id': (string);
}
