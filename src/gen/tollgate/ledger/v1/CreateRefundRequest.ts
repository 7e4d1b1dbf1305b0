// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Long } from '@grpc/proto-loader';

export interface CreateRefundRequest {
  'walletId'?: (string);
  'refundId'?: (string);
  'holdId'?: (string);
  'amountNanos'?: (number | string | Long);
}

export interface CreateRefundRequest__Output {
  'walletId': (string);
  'refundId': (string);
  'holdId': (string);
  'amountNanos': (Long);
}
