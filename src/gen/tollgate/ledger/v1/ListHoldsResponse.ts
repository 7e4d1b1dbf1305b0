// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Hold as _tollgate_ledger_v1_Hold, Hold__Output as _tollgate_ledger_v1_Hold__Output } from '../../../tollgate/ledger/v1/Hold.ts';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';

export interface ListHoldsResponse {
  'holds'?: (_tollgate_ledger_v1_Hold)[];
  'nextPageToken'?: (string);
  'searchedToTime'?: (_google_protobuf_Timestamp | null);
}

export interface ListHoldsResponse__Output {
  'holds': (_tollgate_ledger_v1_Hold__Output)[];
  'nextPageToken': (string);
  'searchedToTime': (_google_protobuf_Timestamp__Output | null);
}
