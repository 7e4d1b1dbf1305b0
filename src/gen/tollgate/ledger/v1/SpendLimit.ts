// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { SpendLimitPeriod as _tollgate_ledger_v1_SpendLimitPeriod, SpendLimitPeriod__Output as _tollgate_ledger_v1_SpendLimitPeriod__Output } from '../../../tollgate/ledger/v1/SpendLimitPeriod.ts';
import type { Scope as _tollgate_ledger_v1_Scope, Scope__Output as _tollgate_ledger_v1_Scope__Output } from '../../../tollgate/ledger/v1/Scope.ts';
import type { ScopeKind as _tollgate_ledger_v1_ScopeKind, ScopeKind__Output as _tollgate_ledger_v1_ScopeKind__Output } from '../../../tollgate/ledger/v1/ScopeKind.ts';
import type { Long } from '@grpc/proto-loader';

export interface SpendLimit {
  'walletId'?: (string);
  'limitId'?: (string);
  'keyId'?: (string);
  'period'?: (_tollgate_ledger_v1_SpendLimitPeriod);
  'amountNanos'?: (number | string | Long);
  'timeZone'?: (string);
  'scope'?: (_tollgate_ledger_v1_Scope | null);
  'each'?: (_tollgate_ledger_v1_ScopeKind);
  'windowHours'?: (number);
  '_keyId'?: "keyId";
  '_timeZone'?: "timeZone";
}

export interface SpendLimit__Output {
  'walletId': (string);
  'limitId': (string);
  'keyId'?: (string);
  'period': (_tollgate_ledger_v1_SpendLimitPeriod__Output);
  'amountNanos': (Long);
  'timeZone'?: (string);
  'scope': (_tollgate_ledger_v1_Scope__Output | null);
  'each': (_tollgate_ledger_v1_ScopeKind__Output);
  'windowHours': (number);
  '_keyId'?: "keyId";
  '_timeZone'?: "timeZone";
}
