// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { OutcomeFacts as _tollgate_ledger_v1_OutcomeFacts, OutcomeFacts__Output as _tollgate_ledger_v1_OutcomeFacts__Output } from '../../../tollgate/ledger/v1/OutcomeFacts.ts';
import type { Struct as _google_protobuf_Struct, Struct__Output as _google_protobuf_Struct__Output } from '../../../google/protobuf/Struct.ts';
import type { TakenHold as _tollgate_ledger_v1_TakenHold, TakenHold__Output as _tollgate_ledger_v1_TakenHold__Output } from '../../../tollgate/ledger/v1/TakenHold.ts';

export interface ReleaseHoldRequest {
  'walletId'?: (string);
  'holdId'?: (string);
  'outcome'?: (_tollgate_ledger_v1_OutcomeFacts | null);
  'metadata'?: (_google_protobuf_Struct | null);
  'taken'?: (_tollgate_ledger_v1_TakenHold | null);
}

export interface ReleaseHoldRequest__Output {
  'walletId': (string);
  'holdId': (string);
  'outcome': (_tollgate_ledger_v1_OutcomeFacts__Output | null);
  'metadata': (_google_protobuf_Struct__Output | null);
  'taken': (_tollgate_ledger_v1_TakenHold__Output | null);
}
