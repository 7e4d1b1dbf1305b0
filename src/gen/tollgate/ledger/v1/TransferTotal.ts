// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { TransferKind as _tollgate_ledger_v1_TransferKind, TransferKind__Output as _tollgate_ledger_v1_TransferKind__Output } from '../../../tollgate/ledger/v1/TransferKind.ts';
import type { Long } from '@grpc/proto-loader';

export interface TransferTotal {
  'kind'?: (_tollgate_ledger_v1_TransferKind);
  'scopeId'?: (string);
  'isDropped'?: (boolean);
  'amountNanos'?: (number | string | Long);
  'transfers'?: (number | string | Long);
  'keyId'?: (string);
  '_scopeId'?: "scopeId";
  '_keyId'?: "keyId";
}

export interface TransferTotal__Output {
  'kind': (_tollgate_ledger_v1_TransferKind__Output);
  'scopeId'?: (string);
  'isDropped': (boolean);
  'amountNanos': (Long);
  'transfers': (Long);
  'keyId'?: (string);
  '_scopeId'?: "scopeId";
  '_keyId'?: "keyId";
}
