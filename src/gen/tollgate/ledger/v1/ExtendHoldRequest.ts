// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Duration as _google_protobuf_Duration, Duration__Output as _google_protobuf_Duration__Output } from '../../../google/protobuf/Duration.ts';
import type { Long } from '@grpc/proto-loader';

export interface ExtendHoldRequest {
  'walletId'?: (string);
  'holdId'?: (string);
  'accruedNanos'?: (number | string | Long);
  'ttl'?: (_google_protobuf_Duration | null);
}

export interface ExtendHoldRequest__Output {
  'walletId': (string);
  'holdId': (string);
  'accruedNanos': (Long);
  'ttl': (_google_protobuf_Duration__Output | null);
}
