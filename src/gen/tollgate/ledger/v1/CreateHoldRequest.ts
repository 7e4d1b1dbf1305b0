// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Duration as _google_protobuf_Duration, Duration__Output as _google_protobuf_Duration__Output } from '../../../google/protobuf/Duration.ts';
import type { Struct as _google_protobuf_Struct, Struct__Output as _google_protobuf_Struct__Output } from '../../../google/protobuf/Struct.ts';
import type { RequestFacts as _tollgate_ledger_v1_RequestFacts, RequestFacts__Output as _tollgate_ledger_v1_RequestFacts__Output } from '../../../tollgate/ledger/v1/RequestFacts.ts';
import type { Scope as _tollgate_ledger_v1_Scope, Scope__Output as _tollgate_ledger_v1_Scope__Output } from '../../../tollgate/ledger/v1/Scope.ts';
import type { Long } from '@grpc/proto-loader';

export interface CreateHoldRequest {
  'walletId'?: (string);
  'holdId'?: (string);
  'keyId'?: (string);
  'amountNanos'?: (number | string | Long);
  'minimumNanos'?: (number | string | Long);
  'ttl'?: (_google_protobuf_Duration | null);
  'metadata'?: (_google_protobuf_Struct | null);
  'facts'?: (_tollgate_ledger_v1_RequestFacts | null);
  'timeout'?: (_google_protobuf_Duration | null);
  'scopes'?: (_tollgate_ledger_v1_Scope)[];
  '_minimumNanos'?: "minimumNanos";
}

export interface CreateHoldRequest__Output {
  'walletId': (string);
  'holdId': (string);
  'keyId': (string);
  'amountNanos': (Long);
  'minimumNanos'?: (Long);
  'ttl': (_google_protobuf_Duration__Output | null);
  'metadata': (_google_protobuf_Struct__Output | null);
  'facts': (_tollgate_ledger_v1_RequestFacts__Output | null);
  'timeout': (_google_protobuf_Duration__Output | null);
  'scopes': (_tollgate_ledger_v1_Scope__Output)[];
  '_minimumNanos'?: "minimumNanos";
}
