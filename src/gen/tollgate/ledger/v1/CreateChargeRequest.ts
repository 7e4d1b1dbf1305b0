// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { RequestFacts as _tollgate_ledger_v1_RequestFacts, RequestFacts__Output as _tollgate_ledger_v1_RequestFacts__Output } from '../../../tollgate/ledger/v1/RequestFacts.ts';
import type { OutcomeFacts as _tollgate_ledger_v1_OutcomeFacts, OutcomeFacts__Output as _tollgate_ledger_v1_OutcomeFacts__Output } from '../../../tollgate/ledger/v1/OutcomeFacts.ts';
import type { Struct as _google_protobuf_Struct, Struct__Output as _google_protobuf_Struct__Output } from '../../../google/protobuf/Struct.ts';
import type { Scope as _tollgate_ledger_v1_Scope, Scope__Output as _tollgate_ledger_v1_Scope__Output } from '../../../tollgate/ledger/v1/Scope.ts';
import type { Long } from '@grpc/proto-loader';

export interface CreateChargeRequest {
  'walletId'?: (string);
  'chargeId'?: (string);
  'keyId'?: (string);
  'amountNanos'?: (number | string | Long);
  'facts'?: (_tollgate_ledger_v1_RequestFacts | null);
  'outcome'?: (_tollgate_ledger_v1_OutcomeFacts | null);
  'metadata'?: (_google_protobuf_Struct | null);
  'scopes'?: (_tollgate_ledger_v1_Scope)[];
  '_amountNanos'?: "amountNanos";
}

export interface CreateChargeRequest__Output {
  'walletId': (string);
  'chargeId': (string);
  'keyId': (string);
  'amountNanos'?: (Long);
  'facts': (_tollgate_ledger_v1_RequestFacts__Output | null);
  'outcome': (_tollgate_ledger_v1_OutcomeFacts__Output | null);
  'metadata': (_google_protobuf_Struct__Output | null);
  'scopes': (_tollgate_ledger_v1_Scope__Output)[];
  '_amountNanos'?: "amountNanos";
}
