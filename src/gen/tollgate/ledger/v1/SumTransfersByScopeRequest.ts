// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { ScopeKind as _tollgate_ledger_v1_ScopeKind, ScopeKind__Output as _tollgate_ledger_v1_ScopeKind__Output } from '../../../tollgate/ledger/v1/ScopeKind.ts';

export interface SumTransfersByScopeRequest {
  'walletId'?: (string);
  'startTime'?: (_google_protobuf_Timestamp | null);
  'endTime'?: (_google_protobuf_Timestamp | null);
  'by'?: (_tollgate_ledger_v1_ScopeKind);
  'tagKey'?: (string);
  'splitsKeys'?: (boolean);
  '_tagKey'?: "tagKey";
}

export interface SumTransfersByScopeRequest__Output {
  'walletId': (string);
  'startTime': (_google_protobuf_Timestamp__Output | null);
  'endTime': (_google_protobuf_Timestamp__Output | null);
  'by': (_tollgate_ledger_v1_ScopeKind__Output);
  'tagKey'?: (string);
  'splitsKeys': (boolean);
  '_tagKey'?: "tagKey";
}
