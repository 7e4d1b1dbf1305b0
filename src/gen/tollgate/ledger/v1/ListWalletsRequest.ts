// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';

export interface ListWalletsRequest {
  'pageSize'?: (number);
  'pageToken'?: (string);
  'endsBefore'?: (_google_protobuf_Timestamp | null);
  '_pageSize'?: "pageSize";
}

export interface ListWalletsRequest__Output {
  'pageSize'?: (number);
  'pageToken': (string);
  'endsBefore': (_google_protobuf_Timestamp__Output | null);
  '_pageSize'?: "pageSize";
}
