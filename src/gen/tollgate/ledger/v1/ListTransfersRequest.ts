// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { TransferKind as _tollgate_ledger_v1_TransferKind, TransferKind__Output as _tollgate_ledger_v1_TransferKind__Output } from '../../../tollgate/ledger/v1/TransferKind.ts';

export interface ListTransfersRequest {
  'walletId'?: (string);
  'pageSize'?: (number);
  'pageToken'?: (string);
  'startTime'?: (_google_protobuf_Timestamp | null);
  'endTime'?: (_google_protobuf_Timestamp | null);
  'oldestFirst'?: (boolean);
  'kinds'?: (_tollgate_ledger_v1_TransferKind)[];
  '_pageSize'?: "pageSize";
}

export interface ListTransfersRequest__Output {
  'walletId': (string);
  'pageSize'?: (number);
  'pageToken': (string);
  'startTime': (_google_protobuf_Timestamp__Output | null);
  'endTime': (_google_protobuf_Timestamp__Output | null);
  'oldestFirst': (boolean);
  'kinds': (_tollgate_ledger_v1_TransferKind__Output)[];
  '_pageSize'?: "pageSize";
}
