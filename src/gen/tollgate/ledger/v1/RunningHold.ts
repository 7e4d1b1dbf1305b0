// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { Long } from '@grpc/proto-loader';

export interface RunningHold {
  'walletId'?: (string);
  'holdId'?: (string);
  'keyId'?: (string);
  'model'?: (string);
  'grantedNanos'?: (number | string | Long);
  'accruedNanos'?: (number | string | Long);
  'createTime'?: (_google_protobuf_Timestamp | null);
  'expireTime'?: (_google_protobuf_Timestamp | null);
}

export interface RunningHold__Output {
  'walletId': (string);
  'holdId': (string);
  'keyId': (string);
  'model': (string);
  'grantedNanos': (Long);
  'accruedNanos': (Long);
  'createTime': (_google_protobuf_Timestamp__Output | null);
  'expireTime': (_google_protobuf_Timestamp__Output | null);
}
