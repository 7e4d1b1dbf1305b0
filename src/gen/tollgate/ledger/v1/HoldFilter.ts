// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { HoldState as _tollgate_ledger_v1_HoldState, HoldState__Output as _tollgate_ledger_v1_HoldState__Output } from '../../../tollgate/ledger/v1/HoldState.ts';
import type { MetadataCondition as _tollgate_ledger_v1_MetadataCondition, MetadataCondition__Output as _tollgate_ledger_v1_MetadataCondition__Output } from '../../../tollgate/ledger/v1/MetadataCondition.ts';
import type { Scope as _tollgate_ledger_v1_Scope, Scope__Output as _tollgate_ledger_v1_Scope__Output } from '../../../tollgate/ledger/v1/Scope.ts';

export interface HoldFilter {
  'walletId'?: (string);
  'startTime'?: (_google_protobuf_Timestamp | null);
  'endTime'?: (_google_protobuf_Timestamp | null);
  'keyId'?: (string);
  'surface'?: (string);
  'model'?: (string);
  'upstream'?: (string);
  'state'?: (_tollgate_ledger_v1_HoldState);
  'outcome'?: (string);
  'allWallets'?: (boolean);
  'metadata'?: (_tollgate_ledger_v1_MetadataCondition | null);
  'scope'?: (_tollgate_ledger_v1_Scope | null);
  'moreScopes'?: (_tollgate_ledger_v1_Scope)[];
  'failed'?: (boolean);
  '_keyId'?: "keyId";
  '_surface'?: "surface";
  '_model'?: "model";
  '_upstream'?: "upstream";
  '_outcome'?: "outcome";
}

export interface HoldFilter__Output {
  'walletId': (string);
  'startTime': (_google_protobuf_Timestamp__Output | null);
  'endTime': (_google_protobuf_Timestamp__Output | null);
  'keyId'?: (string);
  'surface'?: (string);
  'model'?: (string);
  'upstream'?: (string);
  'state': (_tollgate_ledger_v1_HoldState__Output);
  'outcome'?: (string);
  'allWallets': (boolean);
  'metadata': (_tollgate_ledger_v1_MetadataCondition__Output | null);
  'scope': (_tollgate_ledger_v1_Scope__Output | null);
  'moreScopes': (_tollgate_ledger_v1_Scope__Output)[];
  'failed': (boolean);
  '_keyId'?: "keyId";
  '_surface'?: "surface";
  '_model'?: "model";
  '_upstream'?: "upstream";
  '_outcome'?: "outcome";
}
