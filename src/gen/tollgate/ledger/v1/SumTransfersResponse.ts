// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Long } from '@grpc/proto-loader';

export interface SumTransfersResponse {
  'toppedUpNanos'?: (number | string | Long);
  'chargedNanos'?: (number | string | Long);
  'refundedNanos'?: (number | string | Long);
  'transfers'?: (number | string | Long);
  'expiredNanos'?: (number | string | Long);
}

export interface SumTransfersResponse__Output {
  'toppedUpNanos': (Long);
  'chargedNanos': (Long);
  'refundedNanos': (Long);
  'transfers': (Long);
  'expiredNanos': (Long);
}
