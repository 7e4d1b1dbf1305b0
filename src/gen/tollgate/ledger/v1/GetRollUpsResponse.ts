// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { Long } from '@grpc/proto-loader';

export interface GetRollUpsResponse {
  'closedFromTime'?: (_google_protobuf_Timestamp | null);
  'closedToTime'?: (_google_protobuf_Timestamp | null);
  'staleHours'?: (number | string | Long);
  'isBackfilling'?: (boolean);
}

export interface GetRollUpsResponse__Output {
  'closedFromTime': (_google_protobuf_Timestamp__Output | null);
  'closedToTime': (_google_protobuf_Timestamp__Output | null);
  'staleHours': (Long);
  'isBackfilling': (boolean);
}
