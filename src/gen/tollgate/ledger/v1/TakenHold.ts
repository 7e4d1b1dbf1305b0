// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Duration as _google_protobuf_Duration, Duration__Output as _google_protobuf_Duration__Output } from '../../../google/protobuf/Duration.ts';
import type { RequestFacts as _tollgate_ledger_v1_RequestFacts, RequestFacts__Output as _tollgate_ledger_v1_RequestFacts__Output } from '../../../tollgate/ledger/v1/RequestFacts.ts';
import type { Scope as _tollgate_ledger_v1_Scope, Scope__Output as _tollgate_ledger_v1_Scope__Output } from '../../../tollgate/ledger/v1/Scope.ts';
import type { Long } from '@grpc/proto-loader';

export interface TakenHold {
  'keyId'?: (string);
  'grantedNanos'?: (number | string | Long);
  'ttl'?: (_google_protobuf_Duration | null);
  'facts'?: (_tollgate_ledger_v1_RequestFacts | null);
  'scopes'?: (_tollgate_ledger_v1_Scope)[];
}

export interface TakenHold__Output {
  'keyId': (string);
  'grantedNanos': (Long);
  'ttl': (_google_protobuf_Duration__Output | null);
  'facts': (_tollgate_ledger_v1_RequestFacts__Output | null);
  'scopes': (_tollgate_ledger_v1_Scope__Output)[];
}
