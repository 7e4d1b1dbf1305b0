// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';

export interface SumCreditsRequest {
  'walletId'?: (string);
  'startTime'?: (_google_protobuf_Timestamp | null);
  'endTime'?: (_google_protobuf_Timestamp | null);
  '_walletId'?: "walletId";
}

export interface SumCreditsRequest__Output {
  'walletId'?: (string);
  'startTime': (_google_protobuf_Timestamp__Output | null);
  'endTime': (_google_protobuf_Timestamp__Output | null);
  '_walletId'?: "walletId";
}
