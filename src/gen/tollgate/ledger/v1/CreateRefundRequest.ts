// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Duration as _google_protobuf_Duration, Duration__Output as _google_protobuf_Duration__Output } from '../../../google/protobuf/Duration.ts';
import type { Long } from '@grpc/proto-loader';

export interface CreateRefundRequest {
  'walletId'?: (string);
  'refundId'?: (string);
  'holdId'?: (string);
  'amountNanos'?: (number | string | Long);
  'creditLife'?: (_google_protobuf_Duration | null);
}

export interface CreateRefundRequest__Output {
  'walletId': (string);
  'refundId': (string);
  'holdId': (string);
  'amountNanos': (Long);
  'creditLife': (_google_protobuf_Duration__Output | null);
}
