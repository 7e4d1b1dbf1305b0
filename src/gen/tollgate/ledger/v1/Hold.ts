// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { HoldState as _tollgate_ledger_v1_HoldState, HoldState__Output as _tollgate_ledger_v1_HoldState__Output } from '../../../tollgate/ledger/v1/HoldState.ts';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { Struct as _google_protobuf_Struct, Struct__Output as _google_protobuf_Struct__Output } from '../../../google/protobuf/Struct.ts';
import type { RequestFacts as _tollgate_ledger_v1_RequestFacts, RequestFacts__Output as _tollgate_ledger_v1_RequestFacts__Output } from '../../../tollgate/ledger/v1/RequestFacts.ts';
import type { OutcomeFacts as _tollgate_ledger_v1_OutcomeFacts, OutcomeFacts__Output as _tollgate_ledger_v1_OutcomeFacts__Output } from '../../../tollgate/ledger/v1/OutcomeFacts.ts';
import type { Scope as _tollgate_ledger_v1_Scope, Scope__Output as _tollgate_ledger_v1_Scope__Output } from '../../../tollgate/ledger/v1/Scope.ts';
import type { Long } from '@grpc/proto-loader';

export interface Hold {
  'walletId'?: (string);
  'holdId'?: (string);
  'keyId'?: (string);
  'state'?: (_tollgate_ledger_v1_HoldState);
  'grantedNanos'?: (number | string | Long);
  'capturedNanos'?: (number | string | Long);
  'refundedNanos'?: (number | string | Long);
  'late'?: (boolean);
  'createTime'?: (_google_protobuf_Timestamp | null);
  'resolveTime'?: (_google_protobuf_Timestamp | null);
  'metadata'?: (_google_protobuf_Struct | null);
  'request'?: (_tollgate_ledger_v1_RequestFacts | null);
  'outcome'?: (_tollgate_ledger_v1_OutcomeFacts | null);
  'scopes'?: (_tollgate_ledger_v1_Scope)[];
}

export interface Hold__Output {
  'walletId': (string);
  'holdId': (string);
  'keyId': (string);
  'state': (_tollgate_ledger_v1_HoldState__Output);
  'grantedNanos': (Long);
  'capturedNanos': (Long);
  'refundedNanos': (Long);
  'late': (boolean);
  'createTime': (_google_protobuf_Timestamp__Output | null);
  'resolveTime': (_google_protobuf_Timestamp__Output | null);
  'metadata': (_google_protobuf_Struct__Output | null);
  'request': (_tollgate_ledger_v1_RequestFacts__Output | null);
  'outcome': (_tollgate_ledger_v1_OutcomeFacts__Output | null);
  'scopes': (_tollgate_ledger_v1_Scope__Output)[];
}
