// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { Long } from '@grpc/proto-loader';

export interface RunningTotals {
  'walletId'?: (string);
  'count'?: (number | string | Long);
  'grantedNanos'?: (number | string | Long);
  'oldestCreateTime'?: (_google_protobuf_Timestamp | null);
}

export interface RunningTotals__Output {
  'walletId': (string);
  'count': (Long);
  'grantedNanos': (Long);
  'oldestCreateTime': (_google_protobuf_Timestamp__Output | null);
}
